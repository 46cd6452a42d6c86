//! `falloff doctor`: what can be measured on this machine.

use falloff_workflow::doctor::{Examination, json, text};
use falloff_workflow::exit;

use crate::args::{DoctorArgs, TextOrJson};
use crate::failure::Failure;
use crate::output::Output;
use crate::run::PRELOAD;
use crate::sweep::own_executable;

/// Examines and reports; the exit code says whether the default works.
pub fn doctor(args: &DoctorArgs, output: &Output) -> Result<i32, Failure> {
    let examination = Examination::of_this_machine(&PRELOAD, &own_executable()?);
    match args.format {
        TextOrJson::Text => output.data(&text(&examination, output.paint, output.width))?,
        TextOrJson::Json => {
            let text = json(&examination).map_err(Failure::not_written("the examination as JSON"))?;
            output.data(&format!("{text}\n"))?;
        }
    }
    Ok(if examination.works() { exit::OK } else { exit::INCOMPLETE })
}
