-- Views for a dataset of profiles, for ClickHouse 24.8 and later. Views with parameters are called like functions:
--
--   prof sql clickhouse fleet/ > fleet.sql
--   clickhouse local --queries-file fleet.sql --query "SELECT * FROM self_total(metric_name = 'cpu') LIMIT 20"
--
-- Values are integers. A value in the unit of the row is value / divisor; the divisor is 1 for most profiles.

-- Each profile once, even if several machines exported it.
CREATE OR REPLACE VIEW profiles AS
SELECT * FROM file('{dataset}/profiles/*.parquet', Parquet) ORDER BY profile_id, part LIMIT 1 BY profile_id;

-- The samples of these profiles: neither second copies, nor what an interrupted export left.
CREATE OR REPLACE VIEW samples AS
SELECT * FROM file('{dataset}/samples/*/*/*.parquet', Parquet)
WHERE (profile_id, part) IN (SELECT profile_id, part FROM profiles);

-- Each part has all its stacks and frames, so parts repeat them.
CREATE OR REPLACE VIEW stacks AS
SELECT * FROM file('{dataset}/stacks/*.parquet', Parquet) LIMIT 1 BY stack_id;

CREATE OR REPLACE VIEW frames AS
SELECT * FROM file('{dataset}/frames/*.parquet', Parquet) LIMIT 1 BY frame_id;

CREATE OR REPLACE VIEW functions AS
SELECT function_id, any(function) AS function FROM frames GROUP BY function_id;

-- Self and total of every function, as prof top has them: a function counts once per stack, however often it recurs.
CREATE OR REPLACE VIEW self_total AS
WITH sums AS (
  SELECT stack_id, unit, divisor, sum(value) AS sum FROM samples
  WHERE metric = {metric_name:String} GROUP BY stack_id, unit, divisor
), known AS (
  SELECT unit, divisor, sum, function_ids, frame_ids[-1] AS leaf FROM sums INNER JOIN stacks USING (stack_id)
), selfs AS (
  SELECT function_id, unit, divisor, sum(sum) AS self
  FROM known INNER JOIN frames ON frames.frame_id = known.leaf GROUP BY function_id, unit, divisor
), totals AS (
  SELECT arrayJoin(function_ids) AS function_id, unit, divisor, sum(sum) AS total
  FROM known GROUP BY function_id, unit, divisor
)
SELECT function, self, total, unit, divisor
FROM totals LEFT JOIN selfs USING (function_id, unit, divisor) INNER JOIN functions USING (function_id)
ORDER BY self DESC, total DESC, function;

-- The names of each stack, root first.
CREATE OR REPLACE VIEW named_stacks AS
SELECT stack_id, arrayMap(p -> p.2, arraySort(groupArray((place, function)))) AS stack
FROM (SELECT stack_id, place, frame_id FROM stacks ARRAY JOIN frame_ids AS frame_id, arrayEnumerate(frame_ids) AS place) AS places
INNER JOIN frames USING (frame_id) GROUP BY stack_id;

-- Who calls a function, as prof focus has it: each caller counts once per stack.
CREATE OR REPLACE VIEW callers AS
WITH {f:String} AS wanted, sums AS (
  SELECT stack_id, sum(value) AS sum FROM samples WHERE metric = {metric_name:String} GROUP BY stack_id
)
SELECT caller, sum(sum) AS value FROM (
  SELECT sum, arrayJoin(arrayDistinct(arrayMap(
           i -> multiIf(i = 1, '(root)', stack[i - 1] = wanted, '(itself)', stack[i - 1]),
           arrayFilter(i -> stack[i] = wanted, arrayEnumerate(stack))))) AS caller
  FROM sums INNER JOIN named_stacks USING (stack_id)
) GROUP BY caller ORDER BY value DESC, caller;

-- What a function calls; (self) is its own value.
CREATE OR REPLACE VIEW callees AS
WITH {f:String} AS wanted, sums AS (
  SELECT stack_id, sum(value) AS sum FROM samples WHERE metric = {metric_name:String} GROUP BY stack_id
)
SELECT callee, sum(sum) AS value FROM (
  SELECT sum, arrayJoin(arrayDistinct(arrayMap(
           i -> multiIf(i = length(stack), '(self)', stack[i + 1] = wanted, '(itself)', stack[i + 1]),
           arrayFilter(i -> stack[i] = wanted, arrayEnumerate(stack))))) AS callee
  FROM sums INNER JOIN named_stacks USING (stack_id)
) GROUP BY callee ORDER BY value DESC, callee;

-- What changed between two sets of profiles. A side is a build id, a program, a day such as '2026-11-22', or a source.
CREATE OR REPLACE VIEW diff AS
WITH sides AS (
  SELECT profile_id, [ifNull(build_id, ''), ifNull(program, ''), ifNull(toString(toDate(time)), ''), source] AS names,
         has(names, {a:String}) AS is_a, has(names, {b:String}) AS is_b FROM profiles
), sums AS (
  SELECT stack_id, sumIf(value, is_a) AS a_value, sumIf(value, is_b) AS b_value
  FROM samples INNER JOIN sides USING (profile_id) WHERE metric = {metric_name:String} GROUP BY stack_id
), known AS (
  SELECT a_value, b_value, function_ids, frame_ids[-1] AS leaf FROM sums INNER JOIN stacks USING (stack_id)
), selfs AS (
  SELECT function_id, sum(a_value) AS a_self, sum(b_value) AS b_self
  FROM known INNER JOIN frames ON frames.frame_id = known.leaf GROUP BY function_id
), totals AS (
  SELECT arrayJoin(function_ids) AS function_id, sum(a_value) AS a_total, sum(b_value) AS b_total
  FROM known GROUP BY function_id
)
SELECT function, a_self, b_self, a_total, b_total, b_self - a_self AS delta
FROM totals LEFT JOIN selfs USING (function_id) INNER JOIN functions USING (function_id)
WHERE a_total != 0 OR b_total != 0
ORDER BY abs(delta) DESC, function;

-- The values of a label; empty for samples without it.
CREATE OR REPLACE VIEW by_label AS
SELECT labels[{label_key:String}] AS label, sum(value) AS sum FROM samples
WHERE metric = {metric_name:String} GROUP BY label ORDER BY sum DESC, label;

-- Whole stacks, root first, which prof reads as a profile once they are written as Parquet.
CREATE OR REPLACE VIEW flame AS
SELECT stack, {metric_name:String} AS metric, unit, sums.sum AS value
FROM (SELECT stack_id, unit, sum(value) AS sum FROM samples WHERE metric = {metric_name:String} GROUP BY stack_id, unit) AS sums
LEFT JOIN named_stacks USING (stack_id) ORDER BY value DESC;
