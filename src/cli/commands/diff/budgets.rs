//! `prof diff --budget FILE --new NEW...`: budgets by themselves, without an old side.

use anyhow::Result;

use crate::cli::commands::diff::{DiffCommand, exit_code};
use crate::cli::commands::outcome::Outcome;
use crate::cli::commands::show::write;
use crate::cli::input::budget;
use crate::cli::input::request::explain;
use crate::cli::options::layout::Output;
use crate::cli::terminal::failure::hinted;
use crate::compare::Compared;
use crate::filter::Stages;
use crate::load::{Side, Sides, one_side};
use crate::view::BudgetRule;

impl DiffCommand {
    /// Checks the budgets on profiles that are compared with nothing.
    pub(super) fn check_budgets(&self, new: &[String], mut output: Output) -> Result<Outcome> {
        self.refuse_tests()?;
        let request = self.request(new, &self.needs(new))?;
        let new = one_side(&request).map_err(|error| explain(error, &request))?;
        let sides = Sides { old: Side::default(), new, share_a_file: false };
        let compared = self.compared(sides, &request, false)?;
        let mut stages = self.filters.filters().stages(compared.profile.clone(), &self.node.by());
        let rules = self.budgets(&compared, &mut stages)?;
        self.say_about(&compared, &stages);
        let report = compared.check_budgets(&rules);
        let code = exit_code(report.outcome());
        output.style.exit_code = Some(code);
        Outcome(code).after(write(&report.into(), &output, self.input.verbose))
    }

    /// The budgets to check, if there are any.
    pub(super) fn budgets(&self, compared: &Compared, stages: &mut Stages) -> Result<Vec<BudgetRule>> {
        self.test.budget.as_ref().map_or(Ok(Vec::new()), |path| budget::rules(path, compared, stages))
    }

    /// Fails if an option asks for a test, which takes two sides: it must not seem to have been passed.
    fn refuse_tests(&self) -> Result<()> {
        let asked = [("--strict", self.test.strict), ("--function", !self.test.function.is_empty())];
        match asked.iter().find(|(_, is_asked)| *is_asked) {
            Some((option, _)) => Err(hinted(
                format!("diff: {option} is about a comparison, but there is no old side"),
                "prof diff --old OLD... --new NEW...; without an old side, only budgets are checked",
            )),
            None => Ok(()),
        }
    }
}
