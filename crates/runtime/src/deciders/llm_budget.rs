//! The budget of a language model: calls, tokens and money, in a league. When it is used up the model is
//! not asked, and the fallback chooses.

use matchday_core::agent::Usage;
use matchday_core::player::PlayerEvent;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much may be used. What is not named is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageLimits {
    pub calls: Option<u64>,
    pub tokens: Option<u64>,
    pub cost_micros: Option<u64>,
}

/// What a million tokens cost, in millionths of the currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenPrices {
    pub input_micros: u64,
    pub output_micros: u64,
}

#[derive(Debug, Default)]
pub struct LlmBudget {
    limits: UsageLimits,
    prices: TokenPrices,
    /// By all models of the budget.
    used: Arc<Mutex<Usage>>,
    /// What no decision of this model has told yet.
    untold: Mutex<Usage>,
}

impl UsageLimits {
    /// `calls=200,tokens=500000,money=2.50`
    pub fn parse(text: &str) -> Option<Self> {
        let mut limits = Self::default();
        for part in text.split(',') {
            let (name, number) = part.trim().split_once('=')?;
            match name.trim() {
                "calls" => limits.calls = Some(number.trim().parse().ok()?),
                "tokens" => limits.tokens = Some(number.trim().parse().ok()?),
                "money" => limits.cost_micros = Some(micros(number)?),
                _ => return None,
            }
        }
        Some(limits)
    }

    /// The limit that is reached, in words.
    fn reached(self, used: Usage) -> Option<String> {
        let calls = self.calls.filter(|most| u64::from(used.calls) >= *most);
        let tokens = self.tokens.filter(|most| used.tokens() >= *most);
        let money = self.cost_micros.filter(|most| used.cost_micros >= *most);
        let calls = calls.map(|most| format!("{} of {most} calls", used.calls));
        let tokens = || tokens.map(|most| format!("{} of {most} tokens", used.tokens()));
        let money =
            || money.map(|most| format!("{} of {} in money", Money(used.cost_micros), Money(most)));
        calls.or_else(tokens).or_else(money)
    }
}

impl TokenPrices {
    /// `3,15`: what a million tokens of the prompt and of the answer cost.
    pub fn parse(text: &str) -> Option<Self> {
        let (input, output) = text.split_once(',')?;
        Some(Self {
            input_micros: micros(input)?,
            output_micros: micros(output)?,
        })
    }

    fn cost_micros(self, input_tokens: u64, output_tokens: u64) -> u64 {
        let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let total = of(input_tokens, self.input_micros) + of(output_tokens, self.output_micros);
        u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

impl LlmBudget {
    pub fn new(limits: UsageLimits, prices: TokenPrices) -> Self {
        Self {
            limits,
            prices,
            used: Arc::default(),
            untold: Mutex::default(),
        }
    }

    /// The same budget for a model with other prices.
    #[must_use]
    pub fn with_prices(&self, prices: TokenPrices) -> Self {
        Self {
            limits: self.limits,
            prices,
            used: Arc::clone(&self.used),
            untold: Mutex::default(),
        }
    }

    /// Counts what the events of a player say was used. Another league begins with nothing.
    pub fn replay<'a>(&self, events: impl IntoIterator<Item = &'a PlayerEvent>) {
        let mut league = None;
        let mut in_league = Usage::default();
        for event in events {
            match event {
                PlayerEvent::Registered { identity }
                    if league != Some(identity.league_id.clone()) =>
                {
                    league = Some(identity.league_id.clone());
                    in_league = Usage::default();
                }
                PlayerEvent::Chosen {
                    usage: Some(usage), ..
                } => in_league = in_league.plus(*usage),
                _ => {}
            }
        }
        add(&self.used, in_league);
    }

    /// Counts a call that is about to be made, or says why it must not be.
    pub(super) fn begin_call(&self) -> Result<(), String> {
        if let Some(reached) = self.spent() {
            return Err(format!("the model's budget is used up: {reached}"));
        }
        self.count(Usage {
            calls: 1,
            ..Usage::default()
        });
        Ok(())
    }

    /// The limit that is reached, in words, so that no further call is made.
    pub fn spent(&self) -> Option<String> {
        self.limits.reached(*lock(&self.used))
    }

    /// Returns what they cost.
    pub(super) fn count_tokens(&self, input_tokens: u64, output_tokens: u64) -> u64 {
        let cost_micros = self.prices.cost_micros(input_tokens, output_tokens);
        self.count(Usage {
            calls: 0,
            input_tokens,
            output_tokens,
            cost_micros,
        });
        cost_micros
    }

    /// Counts what was used before, as by a run that is continued.
    pub fn count(&self, usage: Usage) {
        add(&self.used, usage);
        add(&self.untold, usage);
    }

    /// What was used since the last decision, calls that led to none included.
    pub(super) fn take_untold(&self) -> Option<Usage> {
        let untold = std::mem::take(&mut *lock(&self.untold));
        (untold != Usage::default()).then_some(untold)
    }
}

fn lock(usage: &Mutex<Usage>) -> MutexGuard<'_, Usage> {
    usage.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add(to: &Mutex<Usage>, usage: Usage) {
    let mut to = lock(to);
    *to = to.plus(usage);
}

/// Millionths of a currency, with two digits or as many as it has.
struct Money(u64);

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:06}", self.0 % 1_000_000);
        let digits = digits.trim_end_matches('0');
        write!(f, "{}.{digits:0<2}", self.0 / 1_000_000)
    }
}

/// `2.50` in millionths.
fn micros(text: &str) -> Option<u64> {
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    if part.len() > 6 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000_000)?
        .checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_prices_are_read_as_they_are_written() {
        let limits = UsageLimits::parse("calls=200, tokens=500000,money=2.5").unwrap();
        assert_eq!(
            (limits.calls, limits.tokens, limits.cost_micros),
            (Some(200), Some(500_000), Some(2_500_000))
        );
        for wrong in [
            "",
            "calls",
            "calls=x",
            "euros=1",
            "money=1.2345678",
            "money=-1",
        ] {
            assert_eq!(UsageLimits::parse(wrong), None, "{wrong}");
        }
        let prices = TokenPrices::parse("3,15").unwrap();
        assert_eq!(prices.cost_micros(1_000_000, 100_000), 4_500_000);
        assert_eq!(TokenPrices::parse("3"), None);
    }

    #[test]
    fn a_model_is_not_asked_beyond_its_budget() {
        let budget = |limits| {
            LlmBudget::new(
                UsageLimits::parse(limits).unwrap(),
                TokenPrices::parse("3,15").unwrap(),
            )
        };
        let calls = budget("calls=2");
        assert_eq!([calls.begin_call(), calls.begin_call()], [Ok(()), Ok(())]);
        let refused = calls.begin_call().unwrap_err();
        assert_eq!(refused, "the model's budget is used up: 2 of 2 calls");
        let budget = budget("tokens=1000,money=1");
        assert_eq!(budget.begin_call(), Ok(()));
        budget.count_tokens(900, 100);
        let refused = budget.begin_call().unwrap_err();
        assert_eq!(
            refused,
            "the model's budget is used up: 1000 of 1000 tokens"
        );
        let told = budget.take_untold().unwrap();
        assert_eq!(
            (told.calls, told.tokens(), told.cost_micros),
            (1, 1000, 4200)
        );
        assert_eq!(budget.take_untold(), None);
    }
}
