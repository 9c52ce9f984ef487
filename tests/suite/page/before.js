// Runs before the page and records all errors.
const faults = [];
for (const event of ["error", "unhandledrejection", "securitypolicyviolation"]) {
  addEventListener(event, (e) => faults.push(`${event}: ${e.message ?? e.reason ?? e.violatedDirective}`));
}
for (const level of ["error", "warn"]) console[level] = (...words) => faults.push(`console: ${words.join(" ")}`);
