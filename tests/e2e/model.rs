//! `falloff model` on a program whose laws are known in closed form.

use serde_json::Value;

use crate::support::{Workshop, bash, outcome, programs};

/// Each of p processes of case 80 does 480/p + 60 + 40·(p − 1) + 30 units of work: at 12 as much as at 1.
#[test]
fn the_parts_of_a_sweep_have_their_laws() {
    let shop = Workshop::alone();
    shop.copy_folder(&programs().join("cases/80-strong-scaling"));
    outcome(&mut bash(shop.dir(), "gcc -O2 -g prog.c -o prog")).expect_code(0);
    let text = "exec \"$FALLOFF\" sweep -n 1,2,3,4,6 --strong --launcher plain -o sweep -- ./prog";
    outcome(&mut bash(shop.dir(), text)).expect_code(0);
    let run = |options: &str| {
        let text = format!("exec \"$FALLOFF\" model sweep --metric cpu {options}");
        outcome(&mut bash(shop.dir(), &text)).expect_code(0)
    };

    let document = run("--target 12 --target p=1000 --format json").json();
    assert_eq!((&document["schema"], &document["metric"]), (&"falloff.model".into(), &"cpu".into()));
    let ratio =
        predicted(&document["whole"], 12).expect("the whole run is predicted") / seconds(&document, 0);
    assert!((ratio - 1.0).abs() < 0.15, "the time at 12 is {ratio} times that at 1");
    assert_eq!(predicted(&document["whole"], 1000), None);
    let refusal = document["whole"]["predictions"][1]["refusal"].as_str().expect("a refusal");
    assert!(refusal.contains("models reach 8 times"), "{refusal}");

    let shared = path(&document, "scales_well");
    let formula = shared["formula"].as_str().expect("a formula");
    assert!(formula.contains("p^-1"), "{formula}");
    let share: f64 = document["paths"].as_array().unwrap().iter().map(share).sum();
    assert!((share - 100.0).abs() < 0.01, "the parts have {share} % of the time");

    let report = run("--limit 3");
    for said in
        ["PREDICTED at 12", "grows", "WHOLE RUN", "Karp-Flatt", "still pays", "NEXT RUN WORTH ITS COST"]
    {
        assert!(report.stdout.contains(said), "the report must say {said}\n{report}");
    }
    let table = run("--format csv --table laws");
    assert!(table.stdout.starts_with("law,processors,quantity,value,miss_percent,refusal\n"), "{table}");
}

fn path<'a>(document: &'a Value, name: &str) -> &'a Value {
    let paths = document["paths"].as_array().expect("paths is no list");
    paths.iter().find(|path| path["name"] == name).unwrap_or_else(|| panic!("no {name} in {document}"))
}

fn share(path: &Value) -> f64 {
    path["share_percent"].as_f64().expect("a share")
}

fn seconds(document: &Value, count: usize) -> f64 {
    document["whole"]["measured"][count]["seconds"].as_f64().expect("seconds")
}

fn predicted(part: &Value, processors: u64) -> Option<f64> {
    let predictions = part["predictions"].as_array().expect("predictions is no list");
    let of_count = predictions.iter().find(|prediction| prediction["processors"] == processors);
    of_count.expect("a prediction")["seconds"].as_f64()
}
