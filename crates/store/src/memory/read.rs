//! Reads a store in memory, as it was when the reader was made. Pure.

use super::State;
use crate::append::NO_LEAGUE;
use crate::batch::Stored;
use crate::chain::Hash;
use crate::error::StoreError;
use crate::exchange::{Direction, Exchange};
use crate::read::{
    ExchangeOrder, ExchangeQuery, ExchangeTimes, FailedExchange, LeagueState, Read, StreamHead,
};
use crate::stream::Stream;
use matchday_core::driver::ExchangeOutcome;

#[derive(Debug)]
pub(super) struct MemoryRead(pub(super) State);

impl MemoryRead {
    fn of(&self, league: u32) -> impl Iterator<Item = (i64, &Exchange)> {
        let all = self.0.exchanges.iter().filter(move |(_, number, _)| *number == league);
        all.map(|(id, _, exchange)| (*id, exchange))
    }

    fn events(&self, league: u32, stream: &Stream) -> &[Stored] {
        self.0.streams.get(&(league, stream.clone())).map_or(&[], Vec::as_slice)
    }
}

fn matches(query: &ExchangeQuery<'_>, id: i64, exchange: &Exchange) -> bool {
    let equals = |wanted: Option<&str>, value: &str| wanted.is_none_or(|wanted| wanted == value);
    let match_id = exchange.match_id.as_ref().map_or("", |id| id.as_str());
    equals(query.match_id, match_id)
        && equals(query.conversation_id, exchange.conversation_id.as_str())
        && equals(query.message_type, exchange.message_type.raw())
        && query.from.is_none_or(|from| id >= from)
        && query.before.is_none_or(|before| id < before)
        && query.agent.is_none_or(|(agent, endpoint)| {
            exchange.agent == agent || exchange.peer.raw() == endpoint || exchange.direction == Direction::In
        })
}

impl Read for MemoryRead {
    fn latest_league(&self) -> Result<u32, StoreError> {
        let known = self.0.leagues.values().filter(|state| !state.removed && state.number != NO_LEAGUE);
        Ok(known.map(|state| state.number).max().unwrap_or(1))
    }

    fn league_states(&self) -> Result<Vec<LeagueState>, StoreError> {
        Ok(self.0.leagues.values().filter(|state| state.number != NO_LEAGUE).copied().collect())
    }

    fn leagues(&self) -> Result<Vec<(u32, Stream, String)>, StoreError> {
        let managers = self.0.streams.iter().filter(|((_, stream), _)| stream.is_managers());
        let first = |((number, stream), events): (&(u32, Stream), &Vec<Stored>)| {
            Some((*number, stream.clone(), events.first()?.line.clone()))
        };
        Ok(managers.filter_map(first).collect())
    }

    fn manager_stream(&self, league: u32) -> Result<Option<Stream>, StoreError> {
        let mut own = self.0.streams.keys().filter(|(number, _)| *number == league);
        Ok(own.find(|(_, stream)| stream.is_managers()).map(|(_, stream)| stream.clone()))
    }

    fn streams(&self, league: u32) -> Result<Vec<(Stream, u32)>, StoreError> {
        let own = self.0.streams.keys().filter(|(number, _)| *number == league);
        let mut streams: Vec<_> = own.map(|(number, stream)| (stream.clone(), *number)).collect();
        streams.sort_by_key(|(stream, _)| (*stream != Stream::league(), stream.clone()));
        Ok(streams)
    }

    fn heads(&self) -> Result<Vec<StreamHead>, StoreError> {
        let head = |((league, stream), events): (&(u32, Stream), &Vec<Stored>)| {
            let hash = events.last()?.hash.0.to_vec();
            let events = i64::try_from(events.len()).unwrap_or(i64::MAX);
            Some(StreamHead { league: *league, stream: stream.clone(), events, hash })
        };
        Ok(self.0.streams.iter().filter_map(head).collect())
    }

    fn head(&self, league: u32, stream: &Stream) -> Result<Option<(u64, Hash)>, StoreError> {
        Ok(self.events(league, stream).last().map(|last| (last.seq, last.hash)))
    }

    fn load(&self, league: u32, stream: &Stream, after: u64) -> Result<Vec<Stored>, StoreError> {
        let events = self.events(league, stream).iter();
        Ok(events.filter(|stored| stored.seq > after).cloned().collect())
    }

    fn load_about(&self, league: u32, texts: [&str; 2]) -> Result<Vec<(Stream, Stored)>, StoreError> {
        let own = self.0.streams.iter().filter(|((number, _), _)| *number == league);
        let all = own.flat_map(|((_, stream), events)| events.iter().map(move |event| (stream, event)));
        let about = all.filter(|(_, event)| texts.iter().any(|text| event.line.contains(text)));
        let mut found: Vec<_> = about.map(|(stream, event)| (stream.clone(), event.clone())).collect();
        found.sort_by_key(|(_, event)| event.seq);
        Ok(found)
    }

    fn exchanges(&self, league: u32, query: &ExchangeQuery<'_>) -> Result<Vec<(i64, Exchange)>, StoreError> {
        let found = self.of(league).filter(|(id, exchange)| matches(query, *id, exchange));
        let mut found: Vec<_> = found.map(|(id, exchange)| (id, exchange.clone())).collect();
        match query.order {
            ExchangeOrder::Time => found.sort_by_key(|(id, exchange)| (exchange.at, *id)),
            ExchangeOrder::Number => {}
            ExchangeOrder::NewestFirst => found.reverse(),
        }
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    fn exchanges_count(&self, league: Option<u32>) -> Result<u64, StoreError> {
        let all =
            self.0.exchanges.iter().filter(|(_, number, _)| league.is_none_or(|wanted| wanted == *number));
        Ok(all.count() as u64)
    }

    fn last_exchange(&self, league: u32) -> Result<i64, StoreError> {
        Ok(self.of(league).last().map_or(0, |(id, _)| id))
    }

    fn exchange_before(&self, league: u32, before: i64, count: u32) -> Result<i64, StoreError> {
        let mut earlier: Vec<i64> = self.of(league).map(|(id, _)| id).filter(|id| *id < before).collect();
        earlier.reverse();
        earlier.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        Ok(earlier.last().copied().unwrap_or(0))
    }

    fn exchange_times(&self, league: u32) -> Result<Vec<ExchangeTimes>, StoreError> {
        let times = |(_, exchange): (i64, &Exchange)| ExchangeTimes {
            at: exchange.at,
            answered_at: exchange.first_byte_at.or(exchange.done_at),
            done_at: exchange.done_at,
            direction: exchange.direction,
            peer: exchange.peer.raw().into(),
            message_type: exchange.message_type.raw().into(),
            match_id: exchange.match_id.as_ref().map(|id| id.as_str().into()),
            answered: exchange.answer.is_some(),
        };
        Ok(self.of(league).map(times).collect())
    }

    fn failed_exchanges(&self, league: u32) -> Result<Vec<FailedExchange>, StoreError> {
        let tells = |kind: &str| matches!(kind, "GAME_ERROR" | "LEAGUE_ERROR");
        let failed = self.of(league).filter(|(_, exchange)| {
            let answer = exchange.answer.as_deref();
            tells(exchange.message_type.raw()) || answer.is_none_or(|answer| answer.contains("error_code"))
        });
        let failed = failed.map(|(_, exchange)| FailedExchange {
            direction: exchange.direction,
            message_type: exchange.message_type.raw().into(),
            conversation_id: exchange.conversation_id.clone(),
            outcome: ExchangeOutcome::parse(exchange.outcome.raw()),
            answered: exchange.answer.is_some(),
            error: match tells(exchange.message_type.raw()) {
                true => Some(exchange.request.clone()),
                false => exchange.answer.clone(),
            },
        });
        Ok(failed.collect())
    }
}
