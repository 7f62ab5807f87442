//! Variants of the ops of tests, counted by op and outcome.

use generate::Random;
use stablo_fuzz::single::{Single, by_op};
use stablo_fuzz::{Seeds, Verdict};
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Outcomes of the variants of an op.
#[derive(Default)]
struct Counts {
    ran: usize,
    refused: usize,
    skipped: usize,
}

/// Some programs of each op, by its name.
type Chosen = BTreeMap<String, Vec<Single>>;

/// Chooses `programs` programs of each op, spread over the files.
pub(crate) fn choose(op: Option<&str>, files: &[PathBuf], programs: usize) -> io::Result<Chosen> {
    let mut texts = Seeds::read()?.texts;
    for file in files {
        let text = std::fs::read_to_string(file)?;
        texts.extend(text.split("// -----").map(String::from));
    }
    let mut all = by_op(&texts);
    all.retain(|name, _| op.is_none_or(|op| op == name));
    for singles in all.values_mut() {
        let step = singles.len().div_ceil(programs).max(1);
        *singles = std::mem::take(singles).into_iter().step_by(step).collect();
    }
    Ok(all)
}

/// Writes all variants as chunks of files, each with the verdict of the verifier before it.
pub(crate) fn write(chosen: &Chosen, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, singles) in chosen {
        let mut text = String::new();
        for variant in singles.iter().flat_map(Single::variants) {
            let verdict = match variant.error() {
                None => "accepted".to_string(),
                Some(message) => format!("refused: {}", message.replace('\n', " ")),
            };
            text += &format!("// {verdict}\n{}// -----\n", variant.text());
        }
        std::fs::write(folder.join(format!("{name}.mlir")), text)?;
    }
    Ok(())
}

/// Tries programs with all their variants; true if nothing was found.
pub(crate) fn run(chosen: &Chosen, findings: &Path) -> io::Result<bool> {
    std::fs::create_dir_all(findings)?;
    let mut classes: BTreeMap<String, usize> = BTreeMap::new();
    for (name, singles) in chosen {
        let mut counts = Counts::default();
        for single in singles {
            for (number, variant) in single.variants().enumerate() {
                let mut random = Random::new(number as u64);
                let verdict = catch_unwind(AssertUnwindSafe(|| variant.verdict(&mut random)));
                let message = match verdict {
                    Ok(Verdict::Ran) => {
                        counts.ran += 1;
                        match catch_unwind(AssertUnwindSafe(|| variant.surplus_steps())) {
                            Ok(None) => continue,
                            Ok(Some(message)) => message,
                            Err(_) => "panics".to_string(),
                        }
                    }
                    Ok(Verdict::Refused) => {
                        counts.refused += 1;
                        continue;
                    }
                    Ok(Verdict::Skipped) => {
                        counts.skipped += 1;
                        continue;
                    }
                    Ok(Verdict::Failed(message)) => format!("fails: {message}"),
                    Ok(Verdict::Differs(message)) => format!("differs: {message}"),
                    Err(_) => "panics".to_string(),
                };
                let class: String = message.chars().filter(|c| !c.is_ascii_digit()).collect();
                let class = format!("{name}: {class}");
                let count = classes.entry(class).or_default();
                *count += 1;
                if *count == 1 {
                    let file = findings.join(format!(
                        "op_{}_{}.mlir",
                        name.replace('.', "_"),
                        classes.len()
                    ));
                    std::fs::write(&file, variant.text())?;
                    println!("{name}: {message} ({})", file.display());
                }
            }
        }
        let Counts { ran, refused, skipped } = counts;
        println!(
            "{name}: {} programs, {ran} variants ran, {refused} were refused, {skipped} skipped",
            singles.len()
        );
    }
    for (class, count) in &classes {
        println!("{count:6} {class}");
    }
    Ok(classes.is_empty())
}
