-- Views and table functions for a dataset of profiles, for Spark 4.0 and later.
--
--   prof sql spark fleet/ > fleet.sql
--   spark-sql -i fleet.sql -e "SELECT * FROM self_total('cpu') LIMIT 20"
--
-- In PySpark, run the statements one by one; each ends with a semicolon at the end of a line:
--   for statement in open('fleet.sql').read().split(';\n'): spark.sql(statement)
-- Ids are DECIMAL(20, 0) in Spark, because it has no unsigned numbers. Values are integers.

-- Times have nanoseconds, which Spark reads only as numbers: nanoseconds since 1970.
SET spark.sql.legacy.parquet.nanosAsLong = true;

-- Each profile once, even if several machines exported it.
CREATE OR REPLACE TEMPORARY VIEW profiles AS
SELECT * EXCEPT (copy) FROM (
  SELECT *, row_number() OVER (PARTITION BY profile_id ORDER BY part) AS copy FROM parquet.`{dataset}/profiles`
) WHERE copy = 1;

-- The samples of these profiles: neither second copies, nor what an interrupted export left.
CREATE OR REPLACE TEMPORARY VIEW samples AS
SELECT s.* FROM parquet.`{dataset}/samples` AS s
LEFT SEMI JOIN profiles AS p ON s.profile_id = p.profile_id AND s.part = p.part;

-- Each part has all its stacks and frames, so parts repeat them.
CREATE OR REPLACE TEMPORARY VIEW stacks AS
SELECT stack_id, any_value(frame_ids) AS frame_ids, any_value(function_ids) AS function_ids
FROM parquet.`{dataset}/stacks` GROUP BY stack_id;

CREATE OR REPLACE TEMPORARY VIEW frames AS
SELECT frame_id, any_value(function_id) AS function_id, any_value(function) AS function, any_value(file) AS file,
       any_value(line) AS line, any_value(package) AS package, any_value(mapping) AS mapping
FROM parquet.`{dataset}/frames` GROUP BY frame_id;

CREATE OR REPLACE TEMPORARY VIEW functions AS
SELECT function_id, any_value(function) AS function FROM parquet.`{dataset}/frames` GROUP BY function_id;

-- Self and total of every function, as prof top has them: a function counts once per stack, however often it recurs.
CREATE OR REPLACE TEMPORARY FUNCTION self_total(metric_name STRING)
RETURNS TABLE (function STRING, self BIGINT, total BIGINT, unit STRING, divisor BIGINT)
RETURN
WITH sums AS (
  SELECT stack_id, unit, divisor, sum(value) AS value
  FROM samples WHERE metric = metric_name GROUP BY stack_id, unit, divisor
), known AS (
  SELECT sums.*, function_ids, element_at(frame_ids, -1) AS leaf FROM sums JOIN stacks USING (stack_id)
  WHERE size(frame_ids) > 0
), selfs AS (
  SELECT function_id, unit, divisor, sum(value) AS self
  FROM known JOIN frames ON frame_id = leaf GROUP BY function_id, unit, divisor
), totals AS (
  SELECT function_id, unit, divisor, sum(value) AS total
  FROM (SELECT explode(function_ids) AS function_id, unit, divisor, value FROM known)
  GROUP BY function_id, unit, divisor
)
SELECT function, coalesce(self, 0) AS self, total, unit, divisor
FROM totals LEFT JOIN selfs USING (function_id, unit, divisor) JOIN functions USING (function_id)
ORDER BY self DESC, total DESC, function;

-- The functions of the stacks with a function, frame by frame; the neighbours of each frame are its caller and its callee.
CREATE OR REPLACE TEMPORARY FUNCTION neighbours(f STRING, metric_name STRING DEFAULT 'cpu')
RETURNS TABLE (stack_id DECIMAL(20, 0), value BIGINT, function STRING, caller STRING, callee STRING)
RETURN
WITH sums AS (
  SELECT stack_id, sum(value) AS value FROM samples WHERE metric = metric_name GROUP BY stack_id
), wanted AS (
  SELECT function_id FROM functions WHERE function = f
), chosen AS (
  SELECT stack_id, value, frame_ids FROM sums JOIN stacks USING (stack_id)
  JOIN wanted ON array_contains(function_ids, wanted.function_id)
), places AS (
  SELECT stack_id, value, place, frame_id FROM chosen LATERAL VIEW posexplode(frame_ids) AS place, frame_id
)
SELECT stack_id, value, function,
       lag(function) OVER (PARTITION BY stack_id ORDER BY place) AS caller,
       lead(function) OVER (PARTITION BY stack_id ORDER BY place) AS callee
FROM places JOIN frames USING (frame_id);

-- Who calls a function, as prof focus has it: each caller counts once per stack.
CREATE OR REPLACE TEMPORARY FUNCTION callers(f STRING, metric_name STRING DEFAULT 'cpu')
RETURNS TABLE (caller STRING, value BIGINT)
RETURN
SELECT caller, sum(value) AS value FROM (
  SELECT DISTINCT stack_id, value,
         CASE WHEN caller IS NULL THEN '(root)' WHEN caller = f THEN '(itself)' ELSE caller END AS caller
  FROM neighbours(f, metric_name) WHERE function = f
) GROUP BY caller ORDER BY value DESC, caller;

-- What a function calls; (self) is its own value.
CREATE OR REPLACE TEMPORARY FUNCTION callees(f STRING, metric_name STRING DEFAULT 'cpu')
RETURNS TABLE (callee STRING, value BIGINT)
RETURN
SELECT callee, sum(value) AS value FROM (
  SELECT DISTINCT stack_id, value,
         CASE WHEN callee IS NULL THEN '(self)' WHEN callee = f THEN '(itself)' ELSE callee END AS callee
  FROM neighbours(f, metric_name) WHERE function = f
) GROUP BY callee ORDER BY value DESC, callee;

-- What changed between two sets of profiles. A side is a build id, a program, a day such as '2026-11-22', or a source.
CREATE OR REPLACE TEMPORARY FUNCTION diff(a STRING, b STRING, metric_name STRING DEFAULT 'cpu')
RETURNS TABLE (function STRING, a_self BIGINT, b_self BIGINT, a_total BIGINT, b_total BIGINT, delta BIGINT)
RETURN
WITH named AS (
  SELECT profile_id, array(build_id, program, CAST(CAST(timestamp_micros(time DIV 1000) AS DATE) AS STRING), source) AS names
  FROM profiles
), sides AS (
  SELECT profile_id, coalesce(array_contains(names, a), false) AS is_a, coalesce(array_contains(names, b), false) AS is_b
  FROM named
), sums AS (
  SELECT stack_id, sum(IF(is_a, value, 0)) AS a_value, sum(IF(is_b, value, 0)) AS b_value
  FROM samples JOIN sides USING (profile_id)
  WHERE metric = metric_name AND (is_a OR is_b) GROUP BY stack_id
), known AS (
  SELECT sums.*, function_ids, element_at(frame_ids, -1) AS leaf FROM sums JOIN stacks USING (stack_id)
  WHERE size(frame_ids) > 0
), selfs AS (
  SELECT function_id, sum(a_value) AS a_self, sum(b_value) AS b_self
  FROM known JOIN frames ON frame_id = leaf GROUP BY function_id
), totals AS (
  SELECT function_id, sum(a_value) AS a_total, sum(b_value) AS b_total
  FROM (SELECT explode(function_ids) AS function_id, a_value, b_value FROM known) GROUP BY function_id
)
SELECT function, coalesce(a_self, 0) AS a_self, coalesce(b_self, 0) AS b_self, a_total, b_total,
       coalesce(b_self, 0) - coalesce(a_self, 0) AS delta
FROM totals LEFT JOIN selfs USING (function_id) JOIN functions USING (function_id)
ORDER BY abs(delta) DESC, function;

-- The values of a label; null for samples without it.
CREATE OR REPLACE TEMPORARY FUNCTION by_label(label_key STRING, metric_name STRING DEFAULT 'cpu')
RETURNS TABLE (label STRING, value BIGINT)
RETURN
SELECT label, sum(value) AS value
FROM (SELECT try_element_at(labels, label_key) AS label, value FROM samples WHERE metric = metric_name)
GROUP BY label ORDER BY value DESC, label;

-- Whole stacks, root first, which prof reads as a profile once they are written as Parquet.
CREATE OR REPLACE TEMPORARY FUNCTION flame(metric_name STRING)
RETURNS TABLE (stack ARRAY<STRING>, metric STRING, unit STRING, value BIGINT)
RETURN
WITH sums AS (
  SELECT stack_id, metric, unit, sum(value) AS value
  FROM samples WHERE metric = metric_name GROUP BY stack_id, metric, unit
), places AS (
  SELECT stack_id, place, frame_id FROM stacks LATERAL VIEW posexplode(frame_ids) AS place, frame_id
), names AS (
  SELECT stack_id, transform(array_sort(collect_list(named_struct('place', place, 'function', function))), p -> p.function) AS stack
  FROM places JOIN frames USING (frame_id) GROUP BY stack_id
)
SELECT coalesce(stack, array()) AS stack, metric, unit, value
FROM sums LEFT JOIN names USING (stack_id) ORDER BY value DESC;
