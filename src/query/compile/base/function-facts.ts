/**
 * PostgreSQL's functions and aggregates of the names that are served: what its catalog pg_proc holds. A test compares them
 * with a server. The types that they take are in operator-facts.ts.
 */

/**
 * Names, then the arguments and the result of each function of these names. An argument that repeats ends in `...`, one
 * with a default in `?`.
 */
export const functionFacts = `
  abs: float4 float4, float8 float8, int2 int2, int4 int4, int8 int8, numeric numeric;
  acos acosh asin asinh atan atanh cbrt cos cosh cot degrees gamma lgamma radians sin sinh tan tanh: float8
    float8;
  age: timestamp interval, timestamp timestamp interval, timestamptz interval, timestamptz timestamptz
    interval, xid int4;
  any_value first_value last_value mode: anyelement anyelement;
  array_agg: anyarray anyarray, anynonarray anyarray;
  array_append array_remove: anycompatiblearray anycompatible anycompatiblearray;
  array_cat: anycompatiblearray anycompatiblearray anycompatiblearray;
  array_dims: anyarray text;
  array_length array_lower array_upper: anyarray int4 int4;
  array_ndims cardinality: anyarray int4;
  array_position: anycompatiblearray anycompatible int4, anycompatiblearray anycompatible int4 int4;
  array_positions: anycompatiblearray anycompatible _int4;
  array_prepend: anycompatible anycompatiblearray anycompatiblearray;
  array_replace: anycompatiblearray anycompatible anycompatible anycompatiblearray;
  array_reverse: anyarray anyarray;
  array_sort: anyarray anyarray, anyarray bool anyarray, anyarray bool bool anyarray;
  array_to_string: anyarray text text, anyarray text text text;
  ascii: text int4;
  atan2 corr covar_pop covar_samp regr_avgx regr_avgy regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy: float8 float8 float8;
  avg: float4 float8, float8 float8, int2 numeric, int4 numeric, int8 numeric, interval interval, numeric
    numeric;
  bit_and bit_or bit_xor: bit bit, int2 int2, int4 int4, int8 int8;
  bit_count: bit int8, bytea int8;
  bit_length: bit int4, bytea int4, text int4;
  bool_and bool_or every: bool bool;
  btrim ltrim rtrim: bytea bytea bytea, text text, text text text;
  ceil ceiling exp floor ln log10 sign sqrt: float8 float8, numeric numeric;
  char_length character_length: bpchar int4, text int4;
  chr: int4 text;
  clock_timestamp now statement_timestamp transaction_timestamp: timestamptz;
  concat: any... text;
  concat_ws: text any... text;
  convert_from: bytea name text;
  convert_to: text name bytea;
  count: int8, any int8;
  cume_dist percent_rank: float8, any... float8;
  date: timestamp date, timestamptz date;
  date_bin: interval timestamp timestamp timestamp, interval timestamptz timestamptz timestamptz;
  date_part: text date float8, text interval float8, text time float8, text timestamp float8, text timestamptz
    float8, text timetz float8;
  date_trunc: text interval interval, text timestamp timestamp, text timestamptz timestamptz, text timestamptz
    text timestamptz;
  decode: text text bytea;
  dense_rank rank: int8, any... int8;
  div: numeric numeric numeric;
  encode: bytea text text;
  extract: text date numeric, text interval numeric, text time numeric, text timestamp numeric, text
    timestamptz numeric, text timetz numeric;
  factorial: int8 numeric;
  format: text text, text any... text;
  gcd lcm: int4 int4 int4, int8 int8 int8, numeric numeric numeric;
  gen_random_uuid uuidv4: uuid;
  generate_subscripts: anyarray int4 int4, anyarray int4 bool int4;
  get_byte: bytea int4 int4;
  initcap: text text;
  isfinite: date bool, interval bool, timestamp bool, timestamptz bool;
  json_agg to_json: anyelement json;
  json_array_elements: json json;
  json_array_elements_text json_object_keys json_typeof: json text;
  jsonb_set: jsonb _text jsonb bool? jsonb;
  json_array_length: json int4;
  json_build_array json_build_object: json, any... json;
  json_each json_each_text: json record;
  json_object_agg: any any json;
  jsonb_agg to_jsonb: anyelement jsonb;
  jsonb_array_elements: jsonb jsonb;
  jsonb_array_elements_text jsonb_object_keys jsonb_typeof: jsonb text;
  jsonb_array_length: jsonb int4;
  jsonb_build_array jsonb_build_object: jsonb, any... jsonb;
  jsonb_each jsonb_each_text: jsonb record;
  jsonb_object_agg: any any jsonb;
  justify_days justify_hours: interval interval;
  lag lead: anycompatible int4 anycompatible anycompatible, anyelement anyelement, anyelement int4 anyelement;
  left repeat right: text int4 text;
  length: bit int4, bpchar int4, bytea int4, bytea name int4, lseg float8, path float8, text int4, tsvector
    int4;
  log: float8 float8, numeric numeric, numeric numeric numeric;
  lower upper: anymultirange anyelement, anyrange anyelement, text text;
  lpad rpad: text int4 text, text int4 text text;
  make_date: int4 int4 int4 date;
  make_interval: int4? int4? int4? int4? int4? int4? float8? interval;
  make_time: int4 int4 float8 time;
  make_timestamp: int4 int4 int4 int4 int4 float8 timestamp;
  make_timestamptz: int4 int4 int4 int4 int4 float8 timestamptz, int4 int4 int4 int4 int4 float8 text
    timestamptz;
  max min: anyarray anyarray, anyenum anyenum, bpchar bpchar, bytea bytea, date date, float4 float4, float8
    float8, inet inet, int2 int2, int4 int4, int8 int8, interval interval, money money, numeric numeric, oid
    oid, pg_lsn pg_lsn, record record, text text, tid tid, time time, timestamp timestamp, timestamptz
    timestamptz, timetz timetz, xid8 xid8;
  md5: bytea text, text text;
  mod: int2 int2 int2, int4 int4 int4, int8 int8 int8, numeric numeric numeric;
  nth_value: anyelement int4 anyelement;
  ntile: int4 int4;
  num_nonnulls num_nulls: any... int4;
  octet_length: bit int4, bpchar int4, bytea int4, text int4;
  overlay: bit bit int4 bit, bit bit int4 int4 bit, bytea bytea int4 bytea, bytea bytea int4 int4 bytea, text
    text int4 text, text text int4 int4 text;
  percentile_cont: _float8 float8 _float8, _float8 interval _interval, float8 float8 float8, float8 interval
    interval;
  percentile_disc: _float8 anyelement anyarray, float8 anyelement anyelement;
  pg_typeof: any regtype;
  pi: float8;
  position: bit bit int4, bytea bytea int4, text text int4;
  pow power: float8 float8 float8, numeric numeric numeric;
  quote_literal quote_nullable: anyelement text, text text;
  random: float8, int4 int4 int4, int8 int8 int8, numeric numeric numeric;
  regexp_count: text text int4, text text int4 int4, text text int4 text int4;
  regexp_instr: text text int4, text text int4 int4, text text int4 int4 int4, text text int4 int4 int4 int4,
    text text int4 int4 int4 text int4, text text int4 int4 int4 text int4 int4;
  regexp_like: text text bool, text text text bool;
  regexp_match regexp_matches regexp_split_to_array string_to_array: text text _text, text text text _text;
  regexp_replace: text text text text, text text text int4 text, text text text int4 int4 text, text text text
    int4 int4 text text, text text text text text;
  regexp_split_to_table string_to_table: text text text, text text text text;
  regexp_substr: text text text, text text int4 text, text text int4 int4 text, text text int4 int4 text text,
    text text int4 int4 text int4 text;
  regr_count: float8 float8 int8;
  replace translate: text text text text;
  reverse: bytea bytea, text text;
  round: float8 float8, numeric numeric, numeric int4 numeric;
  row_number: int8;
  sha256: bytea bytea;
  split_part: text text int4 text;
  starts_with: text text bool;
  stddev stddev_pop stddev_samp var_pop var_samp variance: float4 float8, float8 float8, int2 numeric, int4
    numeric, int8 numeric, numeric numeric;
  string_agg: bytea bytea bytea, text text text;
  strpos: text text int4;
  substr: bytea int4 bytea, bytea int4 int4 bytea, text int4 text, text int4 int4 text;
  substring: bit int4 bit, bit int4 int4 bit, bytea int4 bytea, bytea int4 int4 bytea, text int4 text, text
    int4 int4 text, text text text, text text text text;
  sum: float4 float4, float8 float8, int2 int8, int4 int8, int8 numeric, interval interval, money money,
    numeric numeric;
  timezone: interval timestamp timestamptz, interval timestamptz timestamp, interval timetz timetz, text
    timestamp timestamptz, text timestamptz timestamp, text timetz timetz, timestamp timestamptz, timestamptz
    timestamp, timetz timetz;
  to_bin to_hex to_oct: int4 text, int8 text;
  to_char: float4 text text, float8 text text, int4 text text, int8 text text, interval text text, numeric text
    text, timestamp text text, timestamptz text text;
  to_date: text text date;
  to_number: text text numeric;
  to_timestamp: float8 timestamptz, text text timestamptz;
  trim_array: anyarray int4 anyarray;
  trunc: float8 float8, macaddr macaddr, macaddr8 macaddr8, numeric numeric, numeric int4 numeric;
  uuidv7: uuid, interval uuid;
  width_bucket: anycompatible anycompatiblearray int4, float8 float8 float8 int4 int4, numeric numeric numeric
    int4 int4
`
