//! Our own tree of JSON, held against the usual one: the same texts are read, and as the same.

use bolero::check;
use matchday_core::protocol::json::Json;
use matchday_testkit::golden;
use matchday_testkit::mutation::mutated;
use serde_json::Value;

#[test]
fn the_tree_is_the_usual_tree() {
    let mut good: Vec<String> =
        golden::of_the_sources().iter().map(|golden| golden.value.to_string()).collect();
    good.push(r#"{"a":1,"a":{"b":[1.5,-0.0,1e3,"\u00e9\n"]},"aa":null,"ab":true,"a":2}"#.to_owned());
    check!().with_iterations(crate::RUNS).for_each(|input: &[u8]| {
        let text = mutated(&good, input);
        let Ok(text) = str::from_utf8(&text) else { return };
        let ours = Json::read(text);
        let usual = serde_json::from_str::<Value>(text);
        match (ours, usual) {
            (Ok(ours), Ok(usual)) => same(&ours, &usual),
            (Err(ours), Err(usual)) => assert_eq!(ours.to_string(), usual.to_string()),
            (ours, usual) => panic!("one reads it, the other does not: {ours:?} {usual:?}"),
        }
    });
}

fn same(ours: &Json<'_>, usual: &Value) {
    assert_eq!(ours.to_value(), *usual);
    assert_eq!(Json::from(usual), *ours);
    let written = serde_json::to_string(ours).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), *usual);
    let kept = ours.clone().into_owned();
    assert_eq!(kept, *ours);
    if let (Some(fields), Some(map)) = (ours.as_object(), usual.as_object()) {
        assert_eq!(fields.len(), map.len());
        for (name, value) in map {
            assert!(fields.contains_key(name) && fields.get(name).unwrap() == value, "{name}");
        }
    }
}
