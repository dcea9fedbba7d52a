//! One mailbox: what strangers hold of it, and what they cannot take from the league.

use super::*;
use matchday_core::mailbox::WAITING_MAX;
use matchday_core::protocol::Token;
use matchday_runtime::telemetry::Telemetry;

pub(crate) fn mailbox() -> Arc<OpenMailbox> {
    let record = MailboxRecord {
        token: Token::new("tok_relay_1").hash(),
        from: [10, 0, 0, 1].into(),
    };
    let shared = Shared {
        metrics: Telemetry::default().metrics,
        pool: Arc::default(),
    };
    Arc::new(OpenMailbox::new(record, Clock::start(), Arc::new(shared)))
}

fn read(mailbox: &Arc<OpenMailbox>, client: &str) -> Reading {
    mailbox
        .connect(client.into(), Transport::LongPoll, true, None)
        .unwrap()
}

/// A call of a stranger, or one of our own, that nobody answers.
fn call(
    mailbox: &Arc<OpenMailbox>,
    message: Message,
) -> tokio::task::JoinHandle<Result<Answer, Undelivered>> {
    let mailbox = Arc::clone(mailbox);
    tokio::spawn(async move {
        mailbox
            .call(message, Instant::now() + Duration::from_secs(600))
            .await
    })
}

fn stranger(mailbox: &OpenMailbox, bytes: usize) -> Option<Message> {
    let room = mailbox.room_for_call(bytes)?;
    Some(Message::read(&vec![b' '; bytes].into(), Some(room)))
}

#[tokio::test]
async fn what_a_replaced_reader_was_in_the_middle_of_is_let_go_of() {
    const LONG: usize = 40_000;
    let mailbox = mailbox();
    let first = read(&mailbox, "a");
    let caller = call(&mailbox, stranger(&mailbox, LONG).unwrap());
    first.has_next().await;
    assert!(matches!(
        first.next(),
        NextPiece::Piece {
            ends_line: false,
            ..
        }
    ));
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    assert_eq!(mailbox.memory.share_taken(), LONG, "it is still being sent");
    let _second = read(&mailbox, "b");
    assert_eq!(mailbox.memory.share_taken(), 0);
    assert!(matches!(first.next(), NextPiece::Replaced));
}

#[tokio::test]
async fn a_reader_that_leaves_lets_go_of_what_it_was_in_the_middle_of() {
    let mailbox = mailbox();
    let reading = read(&mailbox, "a");
    let caller = call(&mailbox, stranger(&mailbox, 40_000).unwrap());
    reading.has_next().await;
    reading.next();
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    drop(reading);
    assert_eq!(mailbox.memory.share_taken(), 0);
}

#[tokio::test]
async fn a_call_of_the_league_reaches_an_agent_whose_mailbox_strangers_have_filled() {
    let mailbox = mailbox();
    let reading = read(&mailbox, "a");
    let mut strangers = Vec::new();
    for _ in 0..WAITING_MAX {
        strangers.push(call(&mailbox, stranger(&mailbox, 1024).unwrap()));
    }
    while mailbox.inner().calls.len() < WAITING_MAX {
        tokio::task::yield_now().await;
    }
    let refused = call(&mailbox, stranger(&mailbox, 1).unwrap())
        .await
        .unwrap();
    assert_eq!(refused.unwrap_err(), Undelivered::Refused(Refused::Full));
    let own = call(&mailbox, Message::own(Bytes::from_static(b"ours")));
    let ours = async {
        loop {
            reading.has_next().await;
            if let NextPiece::Piece { text, .. } = reading.next()
                && text.ends_with(b"\"ours\"}\n")
            {
                return serde_json::from_slice::<serde_json::Value>(&text).unwrap()["id"]
                    .as_u64()
                    .unwrap();
            }
        }
    };
    let number = ours.await;
    assert_eq!(
        mailbox
            .room_for_answer(number, usize::MAX)
            .unwrap()
            .map(drop),
        None,
        "it needs no room"
    );
    let answer = Answer {
        status: 200,
        body: Message::own(Bytes::new()),
        arrived: Instant::now(),
    };
    mailbox.answer(number, answer.arrived, Ok(answer)).unwrap();
    assert_eq!(own.await.unwrap().unwrap().status, 200);
}
