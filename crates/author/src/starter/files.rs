//! The files of each starter.

use super::Language;

macro_rules! files {
    ($folder:literal: $($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../starters/", $folder, "/", $path)))),*]
    };
}

impl Language {
    pub(super) fn templates(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Python => files!["python":
                ".gitignore", "README.md", "agent.py", "board.py", "dial.py", "player.py", "strategy.py", "strategy_llm.py", "test_agent.py",
                "tokens.py",
            ],
            Self::Typescript => files!["typescript":
                ".gitignore", "README.md", "agent.test.ts", "agent.ts", "board.ts", "dial.ts", "main.ts", "package.json", "strategy.ts",
                "tokens.ts", "tsconfig.json",
            ],
            Self::Rust => files!["rust":
                ".gitignore", "Cargo.lock", "Cargo.toml", "README.md", "src/agent.rs", "src/board.rs", "src/dial.rs", "src/main.rs",
                "src/registration.rs", "src/rpc.rs", "src/strategy.rs", "src/tests.rs", "src/tokens.rs",
            ],
            Self::Go => files!["go":
                ".gitignore", "README.md", "agent.go", "agent_test.go", "board.go", "dial.go", "go.mod", "main.go", "rpc.go", "strategy.go",
                "tokens.go",
            ],
        }
    }
}
