/**
 * PostgreSQL's operators, types and implicit casts, as far as operands that are served can meet them: what its catalogs
 * pg_operator, pg_type and pg_cast hold. A test compares them with a server.
 */

/** Operands and result of each operator, by its sign. A prefix operator has one operand. */
export const operatorFacts: Readonly<Record<string, string>> = {
  '!~': `
    bpchar text bool, name text bool, text text bool
  `,
  '!~*': `
    bpchar text bool, name text bool, text text bool
  `,
  '!~~': `
    bpchar text bool, bytea bytea bool, name text bool, text text bool
  `,
  '!~~*': `
    bpchar text bool, name text bool, text text bool
  `,
  '#': `
    int2 int2 int2, int4 int4 int4, int8 int8 int8
  `,
  '#-': `
    jsonb _text jsonb
  `,
  '#>': `
    json _text json, jsonb _text jsonb
  `,
  '#>>': `
    json _text text, jsonb _text text
  `,
  '%': `
    int2 int2 int2, int4 int4 int4, int8 int8 int8, numeric numeric numeric
  `,
  '&': `
    int2 int2 int2, int4 int4 int4, int8 int8 int8
  `,
  '&&': `
    anyarray anyarray bool
  `,
  '*': `
    float4 float4 float4, float4 float8 float8, float4 money money, float8 float4 float8,
    float8 float8 float8, float8 interval interval, float8 money money, int2 int2 int2, int2 int4 int4,
    int2 int8 int8, int2 money money, int4 int2 int4, int4 int4 int4, int4 int8 int8, int4 money money,
    int8 int2 int8, int8 int4 int8, int8 int8 int8, int8 money money, interval float8 interval,
    money float4 money, money float8 money, money int2 money, money int4 money, money int8 money,
    numeric numeric numeric
  `,
  '+': `
    float4 float4, float8 float8, int2 int2, int4 int4, int8 int8, numeric numeric, date int4 date,
    date interval timestamp, date time timestamp, date timetz timestamptz, float4 float4 float4,
    float4 float8 float8, float8 float4 float8, float8 float8 float8, inet int8 inet, int2 int2 int2,
    int2 int4 int4, int2 int8 int8, int4 date date, int4 int2 int4, int4 int4 int4, int4 int8 int8,
    int8 inet inet, int8 int2 int8, int8 int4 int8, int8 int8 int8, interval date timestamp,
    interval interval interval, interval time time, interval timestamp timestamp,
    interval timestamptz timestamptz, interval timetz timetz, numeric numeric numeric,
    numeric pg_lsn pg_lsn, pg_lsn numeric pg_lsn, time date timestamp, time interval time,
    timestamp interval timestamp, timestamptz interval timestamptz, timetz date timestamptz,
    timetz interval timetz
  `,
  '-': `
    float4 float4, float8 float8, int2 int2, int4 int4, int8 int8, interval interval, numeric numeric,
    date date int4, date int4 date, date interval timestamp, float4 float4 float4, float4 float8 float8,
    float8 float4 float8, float8 float8 float8, inet int8 inet, int2 int2 int2, int2 int4 int4,
    int2 int8 int8, int4 int2 int4, int4 int4 int4, int4 int8 int8, int8 int2 int8, int8 int4 int8,
    int8 int8 int8, interval interval interval, jsonb _text jsonb, jsonb int4 jsonb, jsonb text jsonb,
    numeric numeric numeric, pg_lsn numeric pg_lsn, time interval time, time time interval,
    timestamp interval timestamp, timestamp timestamp interval, timestamptz interval timestamptz,
    timestamptz timestamptz interval, timetz interval timetz
  `,
  '->': `
    json int4 json, json text json, jsonb int4 jsonb, jsonb text jsonb
  `,
  '->>': `
    json int4 text, json text text, jsonb int4 text, jsonb text text
  `,
  '/': `
    float4 float4 float4, float4 float8 float8, float8 float4 float8, float8 float8 float8,
    int2 int2 int2, int2 int4 int4, int2 int8 int8, int4 int2 int4, int4 int4 int4, int4 int8 int8,
    int8 int2 int8, int8 int4 int8, int8 int8 int8, interval float8 interval, money float4 money,
    money float8 money, money int2 money, money int4 money, money int8 money, numeric numeric numeric
  `,
  '<': `
    anyarray anyarray bool, bool bool bool, bpchar bpchar bool, bytea bytea bool, date date bool,
    date timestamp bool, date timestamptz bool, float4 float4 bool, float4 float8 bool,
    float8 float4 bool, float8 float8 bool, int2 int2 bool, int2 int4 bool, int2 int8 bool,
    int4 int2 bool, int4 int4 bool, int4 int8 bool, int8 int2 bool, int8 int4 bool, int8 int8 bool,
    interval interval bool, jsonb jsonb bool, name name bool, name text bool, numeric numeric bool,
    oid oid bool, text name bool, text text bool, time time bool, timestamp date bool,
    timestamp timestamp bool, timestamp timestamptz bool, timestamptz date bool,
    timestamptz timestamp bool, timestamptz timestamptz bool, timetz timetz bool, uuid uuid bool
  `,
  '<<': `
    bit int4 bit, int2 int4 int2, int4 int4 int4, int8 int4 int8
  `,
  '<=': `
    anyarray anyarray bool, bool bool bool, bpchar bpchar bool, bytea bytea bool, date date bool,
    date timestamp bool, date timestamptz bool, float4 float4 bool, float4 float8 bool,
    float8 float4 bool, float8 float8 bool, int2 int2 bool, int2 int4 bool, int2 int8 bool,
    int4 int2 bool, int4 int4 bool, int4 int8 bool, int8 int2 bool, int8 int4 bool, int8 int8 bool,
    interval interval bool, jsonb jsonb bool, name name bool, name text bool, numeric numeric bool,
    oid oid bool, text name bool, text text bool, time time bool, timestamp date bool,
    timestamp timestamp bool, timestamp timestamptz bool, timestamptz date bool,
    timestamptz timestamp bool, timestamptz timestamptz bool, timetz timetz bool, uuid uuid bool
  `,
  '<>': `
    anyarray anyarray bool, bool bool bool, bpchar bpchar bool, bytea bytea bool, date date bool,
    date timestamp bool, date timestamptz bool, float4 float4 bool, float4 float8 bool,
    float8 float4 bool, float8 float8 bool, int2 int2 bool, int2 int4 bool, int2 int8 bool,
    int4 int2 bool, int4 int4 bool, int4 int8 bool, int8 int2 bool, int8 int4 bool, int8 int8 bool,
    interval interval bool, jsonb jsonb bool, name name bool, name text bool, numeric numeric bool,
    oid oid bool, text name bool, text text bool, time time bool, timestamp date bool,
    timestamp timestamp bool, timestamp timestamptz bool, timestamptz date bool,
    timestamptz timestamp bool, timestamptz timestamptz bool, timetz timetz bool, uuid uuid bool,
    xid int4 bool
  `,
  '<@': `
    anyarray anyarray bool, jsonb jsonb bool
  `,
  '=': `
    anyarray anyarray bool, bool bool bool, bpchar bpchar bool, bytea bytea bool, date date bool,
    date timestamp bool, date timestamptz bool, float4 float4 bool, float4 float8 bool,
    float8 float4 bool, float8 float8 bool, int2 int2 bool, int2 int4 bool, int2 int8 bool,
    int4 int2 bool, int4 int4 bool, int4 int8 bool, int8 int2 bool, int8 int4 bool, int8 int8 bool,
    interval interval bool, jsonb jsonb bool, name name bool, name text bool, numeric numeric bool,
    oid oid bool, text name bool, text text bool, time time bool, timestamp date bool,
    timestamp timestamp bool, timestamp timestamptz bool, timestamptz date bool,
    timestamptz timestamp bool, timestamptz timestamptz bool, timetz timetz bool, uuid uuid bool,
    xid int4 bool
  `,
  '>': `
    anyarray anyarray bool, bool bool bool, bpchar bpchar bool, bytea bytea bool, date date bool,
    date timestamp bool, date timestamptz bool, float4 float4 bool, float4 float8 bool,
    float8 float4 bool, float8 float8 bool, int2 int2 bool, int2 int4 bool, int2 int8 bool,
    int4 int2 bool, int4 int4 bool, int4 int8 bool, int8 int2 bool, int8 int4 bool, int8 int8 bool,
    interval interval bool, jsonb jsonb bool, name name bool, name text bool, numeric numeric bool,
    oid oid bool, text name bool, text text bool, time time bool, timestamp date bool,
    timestamp timestamp bool, timestamp timestamptz bool, timestamptz date bool,
    timestamptz timestamp bool, timestamptz timestamptz bool, timetz timetz bool, uuid uuid bool
  `,
  '>=': `
    anyarray anyarray bool, bool bool bool, bpchar bpchar bool, bytea bytea bool, date date bool,
    date timestamp bool, date timestamptz bool, float4 float4 bool, float4 float8 bool,
    float8 float4 bool, float8 float8 bool, int2 int2 bool, int2 int4 bool, int2 int8 bool,
    int4 int2 bool, int4 int4 bool, int4 int8 bool, int8 int2 bool, int8 int4 bool, int8 int8 bool,
    interval interval bool, jsonb jsonb bool, name name bool, name text bool, numeric numeric bool,
    oid oid bool, text name bool, text text bool, time time bool, timestamp date bool,
    timestamp timestamp bool, timestamp timestamptz bool, timestamptz date bool,
    timestamptz timestamp bool, timestamptz timestamptz bool, timetz timetz bool, uuid uuid bool
  `,
  '>>': `
    bit int4 bit, int2 int4 int2, int4 int4 int4, int8 int4 int8
  `,
  '?': `
    jsonb text bool
  `,
  '?&': `
    jsonb _text bool
  `,
  '?|': `
    jsonb _text bool
  `,
  '@': `
    float4 float4, float8 float8, int2 int2, int4 int4, int8 int8, numeric numeric
  `,
  '@>': `
    anyarray anyarray bool, jsonb jsonb bool
  `,
  '@?': `
    jsonb jsonpath bool
  `,
  '@@': `
    jsonb jsonpath bool, text text bool, text tsquery bool
  `,
  '^': `
    float8 float8 float8, numeric numeric numeric
  `,
  '^@': `
    text text bool
  `,
  '|': `
    int2 int2 int2, int4 int4 int4, int8 int8 int8
  `,
  '|/': `
    float8 float8
  `,
  '||': `
    anycompatible anycompatiblearray anycompatiblearray,
    anycompatiblearray anycompatible anycompatiblearray,
    anycompatiblearray anycompatiblearray anycompatiblearray, anynonarray text text, bytea bytea bytea,
    jsonb jsonb jsonb, text anynonarray text, text text text
  `,
  '||/': `
    float8 float8
  `,
  '~': `
    int2 int2, int4 int4, int8 int8, bpchar text bool, name text bool, text text bool
  `,
  '~*': `
    bpchar text bool, name text bool, text text bool
  `,
  '~<=~': `
    bpchar bpchar bool, text text bool
  `,
  '~<~': `
    bpchar bpchar bool, text text bool
  `,
  '~>=~': `
    bpchar bpchar bool, text text bool
  `,
  '~>~': `
    bpchar bpchar bool, text text bool
  `,
  '~~': `
    bpchar text bool, bytea bytea bool, name text bool, text text bool
  `,
  '~~*': `
    bpchar text bool, name text bool, text text bool
  `,
}

/** The category of each type, and an asterisk where it is the preferred one. */
export const typeFacts =
  '_float8:A _text:A any:P anyarray:P anycompatible:P anycompatiblearray:P anycompatiblenonarray:P anyelement:P anyenum:P anymultirange:P anynonarray:P anyrange:P bit:V bool:B* bpchar:S bytea:U date:D float4:N float8:N* inet:I* int2:N int4:N int8:N interval:T* json:U jsonb:U jsonpath:U lseg:G macaddr:U macaddr8:U money:N name:S numeric:N oid:N* path:G pg_lsn:U record:P text:S* tid:U time:D timestamp:D timestamptz:D* timetz:D tsquery:U tsvector:U uuid:U varchar:S xid:U xid8:U'

/** The types to which each converts implicitly. */
export const castFacts: Readonly<Record<string, string>> = {
  date: 'timestamp timestamptz',
  float4: 'float8',
  int2: 'float4 float8 int4 int8 numeric oid',
  int4: 'float4 float8 int8 numeric oid',
  int8: 'float4 float8 numeric oid',
  numeric: 'float4 float8',
  text: 'bpchar name varchar',
  time: 'interval timetz',
  timestamp: 'timestamptz',
  varchar: 'bpchar name text',
}
