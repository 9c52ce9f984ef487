-- Views and macros for a dataset of profiles, for DuckDB 1.1 and later.
--
--   prof sql duckdb fleet/ > fleet.sql
--   duckdb -init fleet.sql -c "FROM self_total('cpu') LIMIT 20"
--
-- Macros have the metric as their last argument, 'cpu' by default: callers('json.Marshal', metric_name := 'alloc_space').
-- Values are integers. A value in the unit of the row is value / divisor; the divisor is 1 for most profiles.

-- Each profile once, even if several machines exported it.
CREATE OR REPLACE VIEW profiles AS
SELECT DISTINCT ON (profile_id) *
FROM read_parquet('{dataset}/profiles/*.parquet')
ORDER BY profile_id, part;

-- The samples of these profiles: neither second copies, nor what an interrupted export left.
CREATE OR REPLACE VIEW samples AS
SELECT s.*
FROM read_parquet('{dataset}/samples/*/*/*.parquet', hive_partitioning = true,
                  hive_types = {'date': DATE, 'metric': VARCHAR}) AS s
SEMI JOIN profiles AS p ON s.profile_id = p.profile_id AND s.part = p.part;

-- Each part has all its stacks and frames, so parts repeat them.
CREATE OR REPLACE VIEW stacks AS
SELECT stack_id, any_value(frame_ids) AS frame_ids, any_value(function_ids) AS function_ids
FROM read_parquet('{dataset}/stacks/*.parquet')
GROUP BY stack_id;

CREATE OR REPLACE VIEW frames AS
SELECT DISTINCT ON (frame_id) * FROM read_parquet('{dataset}/frames/*.parquet');

CREATE OR REPLACE VIEW functions AS
SELECT function_id, any_value(function) AS function
FROM read_parquet('{dataset}/frames/*.parquet')
GROUP BY function_id;

-- Self and total of every function, as prof top has them: a function counts once per stack, however often it recurs.
CREATE OR REPLACE MACRO self_total(metric_name) AS TABLE
WITH sums AS (
  SELECT stack_id, unit, divisor, sum(value)::BIGINT AS value
  FROM samples WHERE metric = metric_name GROUP BY ALL
), known AS (
  SELECT sums.*, function_ids, frame_ids[-1] AS leaf FROM sums JOIN stacks USING (stack_id)
), selfs AS (
  SELECT function_id, unit, divisor, sum(value)::BIGINT AS self
  FROM known JOIN frames ON frame_id = leaf GROUP BY ALL
), totals AS (
  SELECT function_id, unit, divisor, sum(value)::BIGINT AS total
  FROM (SELECT unnest(function_ids) AS function_id, unit, divisor, value FROM known) GROUP BY ALL
)
SELECT function, coalesce(self, 0) AS self, total, unit, divisor
FROM totals LEFT JOIN selfs USING (function_id, unit, divisor) JOIN functions USING (function_id)
ORDER BY self DESC, total DESC, function;

-- The functions of the stacks with a function, frame by frame; the neighbours of each frame are its caller and its callee.
CREATE OR REPLACE MACRO neighbours(f, metric_name := 'cpu') AS TABLE
WITH sums AS (
  SELECT stack_id, sum(value)::BIGINT AS value FROM samples WHERE metric = metric_name GROUP BY stack_id
), places AS (
  SELECT stack_id, value, unnest(frame_ids) AS frame_id, generate_subscripts(frame_ids, 1) AS place
  FROM sums JOIN stacks USING (stack_id)
  WHERE list_contains(function_ids, (SELECT function_id FROM functions WHERE function = f))
)
SELECT stack_id, value, function,
       lag(function) OVER (PARTITION BY stack_id ORDER BY place) AS caller,
       lead(function) OVER (PARTITION BY stack_id ORDER BY place) AS callee
FROM places JOIN frames USING (frame_id);

-- Who calls a function, as prof focus has it: each caller counts once per stack.
CREATE OR REPLACE MACRO callers(f, metric_name := 'cpu') AS TABLE
SELECT caller, sum(value)::BIGINT AS value
FROM (
  SELECT DISTINCT stack_id, value,
         CASE WHEN caller IS NULL THEN '(root)' WHEN caller = f THEN '(itself)' ELSE caller END AS caller
  FROM neighbours(f, metric_name := metric_name) WHERE function = f
)
GROUP BY caller ORDER BY value DESC, caller;

-- What a function calls; (self) is its own value.
CREATE OR REPLACE MACRO callees(f, metric_name := 'cpu') AS TABLE
SELECT callee, sum(value)::BIGINT AS value
FROM (
  SELECT DISTINCT stack_id, value,
         CASE WHEN callee IS NULL THEN '(self)' WHEN callee = f THEN '(itself)' ELSE callee END AS callee
  FROM neighbours(f, metric_name := metric_name) WHERE function = f
)
GROUP BY callee ORDER BY value DESC, callee;

-- What changed between two sets of profiles. A side is a build id, a program, a day such as '2026-11-22', or a source.
CREATE OR REPLACE MACRO diff(a, b, metric_name := 'cpu') AS TABLE
WITH sides AS (
  SELECT profile_id,
         a IN (coalesce(build_id, ''), coalesce(program, ''), coalesce(time::DATE::VARCHAR, ''), source) AS is_a,
         b IN (coalesce(build_id, ''), coalesce(program, ''), coalesce(time::DATE::VARCHAR, ''), source) AS is_b
  FROM profiles
), sums AS (
  SELECT stack_id, coalesce(sum(value) FILTER (is_a), 0) AS a_value, coalesce(sum(value) FILTER (is_b), 0) AS b_value
  FROM samples JOIN sides USING (profile_id)
  WHERE metric = metric_name AND (is_a OR is_b) GROUP BY stack_id
), known AS (
  SELECT sums.*, function_ids, frame_ids[-1] AS leaf FROM sums JOIN stacks USING (stack_id)
), selfs AS (
  SELECT function_id, sum(a_value) AS a_self, sum(b_value) AS b_self
  FROM known JOIN frames ON frame_id = leaf GROUP BY function_id
), totals AS (
  SELECT function_id, sum(a_value) AS a_total, sum(b_value) AS b_total
  FROM (SELECT unnest(function_ids) AS function_id, a_value, b_value FROM known) GROUP BY function_id
)
SELECT function, coalesce(a_self, 0)::BIGINT AS a_self, coalesce(b_self, 0)::BIGINT AS b_self,
       a_total::BIGINT AS a_total, b_total::BIGINT AS b_total,
       (coalesce(b_self, 0) - coalesce(a_self, 0))::BIGINT AS delta
FROM totals LEFT JOIN selfs USING (function_id) JOIN functions USING (function_id)
ORDER BY abs(delta) DESC, function;

-- The values of a label; null for samples without it.
CREATE OR REPLACE MACRO by_label(label_key, metric_name := 'cpu') AS TABLE
SELECT map_extract(labels, label_key)[1] AS label, sum(value)::BIGINT AS value
FROM samples WHERE metric = metric_name
GROUP BY label ORDER BY value DESC, label;

-- Whole stacks, root first, which prof reads as a profile:
--   COPY (FROM flame('cpu')) TO 'cpu.parquet'; and then: prof flame cpu.html cpu.parquet
CREATE OR REPLACE MACRO flame(metric_name) AS TABLE
WITH sums AS (
  SELECT stack_id, metric, unit, sum(value)::BIGINT AS value
  FROM samples WHERE metric = metric_name GROUP BY ALL
), places AS (
  SELECT stack_id, unnest(frame_ids) AS frame_id, generate_subscripts(frame_ids, 1) AS place
  FROM sums JOIN stacks USING (stack_id)
), names AS (
  SELECT stack_id, list(function ORDER BY place) AS stack FROM places JOIN frames USING (frame_id) GROUP BY stack_id
)
SELECT coalesce(stack, []::VARCHAR[]) AS stack, metric, unit, value
FROM sums LEFT JOIN names USING (stack_id) ORDER BY value DESC;
