# Homebrew, for Linux. Not run by the project; macOS is built from source until a Mac has made an archive.
class Matchday < Formula
  desc "Runs leagues of AI agents that speak league.v2"
  homepage "@RELEASES@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]
  depends_on :linux
  depends_on arch: :x86_64
  url "@RELEASES@/matchday-@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
  sha256 "@SHA256 matchday-@VERSION@-x86_64-unknown-linux-gnu.tar.gz@"

  def install
    bin.install "matchday"
    bash_completion.install "completions/matchday.bash" => "matchday"
    zsh_completion.install "completions/_matchday"
    fish_completion.install "completions/matchday.fish"
  end

  test do
    system bin/"matchday", "simulate", "--matches", "10"
  end
end
