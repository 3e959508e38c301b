/**
 * Checks statement trees against an allow-list of node kinds, their fields and the values of scalar fields. Anything
 * unlisted is refused, so a construct that a newer parser supports stays refused until it is listed.
 */

import { notSupported, SqlError } from '../base/sql-error.ts'

/** `scalar`, a list of permitted values, `node`, `list`, or `=Kind` for a field that holds one kind unwrapped. */
type FieldRule = 'scalar' | 'node' | 'list' | `=${string}` | readonly (string | number | boolean)[]

const here = { location: 'scalar' } as const

const kinds: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  SelectStmt: {
    distinctClause: 'list',
    targetList: 'list',
    fromClause: 'list',
    whereClause: 'node',
    groupClause: 'list',
    groupDistinct: 'scalar',
    havingClause: 'node',
    windowClause: 'list',
    valuesLists: 'list',
    sortClause: 'list',
    limitOffset: 'node',
    limitCount: 'node',
    limitOption: ['LIMIT_OPTION_DEFAULT', 'LIMIT_OPTION_COUNT', 'LIMIT_OPTION_WITH_TIES'],
    withClause: '=WithClause',
    op: ['SETOP_NONE', 'SETOP_UNION', 'SETOP_INTERSECT', 'SETOP_EXCEPT'],
    all: 'scalar',
    larg: '=SelectStmt',
    rarg: '=SelectStmt',
  },
  WithClause: { ctes: 'list', recursive: 'scalar', ...here },
  CommonTableExpr: {
    ctename: 'scalar',
    aliascolnames: 'list',
    ctematerialized: ['CTEMaterializeDefault', 'CTEMaterializeAlways', 'CTEMaterializeNever'],
    ctequery: 'node',
    ...here,
  },
  RangeVar: {
    catalogname: 'scalar',
    schemaname: 'scalar',
    relname: 'scalar',
    inh: [true],
    relpersistence: ['p'],
    alias: '=Alias',
    ...here,
  },
  RangeTableSample: { relation: 'node', method: 'list', args: 'list', ...here },
  RangeSubselect: { lateral: 'scalar', subquery: 'node', alias: '=Alias' },
  RangeFunction: {
    lateral: 'scalar',
    ordinality: 'scalar',
    functions: 'list',
    alias: '=Alias',
    coldeflist: 'list',
  },
  ColumnDef: { colname: 'scalar', typeName: '=TypeName', is_local: [true], ...here },
  JoinExpr: {
    jointype: ['JOIN_INNER', 'JOIN_LEFT', 'JOIN_RIGHT', 'JOIN_FULL'],
    isNatural: 'scalar',
    larg: 'node',
    rarg: 'node',
    usingClause: 'list',
    quals: 'node',
    alias: '=Alias',
  },
  Alias: { aliasname: 'scalar', colnames: 'list' },
  ResTarget: { name: 'scalar', val: 'node', ...here },
  SortBy: {
    node: 'node',
    sortby_dir: ['SORTBY_DEFAULT', 'SORTBY_ASC', 'SORTBY_DESC'],
    sortby_nulls: ['SORTBY_NULLS_DEFAULT', 'SORTBY_NULLS_FIRST', 'SORTBY_NULLS_LAST'],
    ...here,
  },
  GroupingSet: { kind: 'scalar', content: 'list', ...here },
  GroupingFunc: { args: 'list', ...here },
  WindowDef: {
    name: 'scalar',
    refname: 'scalar',
    partitionClause: 'list',
    orderClause: 'list',
    frameOptions: 'scalar',
    startOffset: 'node',
    endOffset: 'node',
    ...here,
  },
  ColumnRef: { fields: 'list', ...here },
  A_Star: {},
  A_Const: {
    ival: '=Integer',
    fval: '=Float',
    boolval: '=Boolean',
    sval: '=String',
    isnull: 'scalar',
    ...here,
  },
  ParamRef: { number: 'scalar', ...here },
  A_Expr: {
    kind: [
      'AEXPR_OP',
      'AEXPR_OP_ANY',
      'AEXPR_OP_ALL',
      'AEXPR_DISTINCT',
      'AEXPR_NOT_DISTINCT',
      'AEXPR_NULLIF',
      'AEXPR_IN',
      'AEXPR_LIKE',
      'AEXPR_ILIKE',
      'AEXPR_SIMILAR',
      'AEXPR_BETWEEN',
      'AEXPR_NOT_BETWEEN',
      'AEXPR_BETWEEN_SYM',
      'AEXPR_NOT_BETWEEN_SYM',
    ],
    name: 'list',
    lexpr: 'node',
    rexpr: 'node',
    rexpr_list_start: 'scalar',
    rexpr_list_end: 'scalar',
    ...here,
  },
  BoolExpr: { boolop: ['AND_EXPR', 'OR_EXPR', 'NOT_EXPR'], args: 'list', ...here },
  NullTest: { arg: 'node', nulltesttype: ['IS_NULL', 'IS_NOT_NULL'], ...here },
  BooleanTest: { arg: 'node', booltesttype: 'scalar', ...here },
  CaseExpr: { arg: 'node', args: 'list', defresult: 'node', ...here },
  CaseWhen: { expr: 'node', result: 'node', ...here },
  CoalesceExpr: { args: 'list', ...here },
  MinMaxExpr: { op: ['IS_GREATEST', 'IS_LEAST'], args: 'list', ...here },
  SQLValueFunction: { op: 'scalar', typmod: 'scalar', ...here },
  TypeCast: { arg: 'node', typeName: '=TypeName', ...here },
  CollateClause: { arg: 'node', collname: 'list', ...here },
  TypeName: { names: 'list', typmods: 'list', typemod: 'scalar', arrayBounds: 'list', ...here },
  FuncCall: {
    funcname: 'list',
    args: 'list',
    agg_order: 'list',
    agg_filter: 'node',
    over: '=WindowDef',
    agg_within_group: 'scalar',
    agg_star: 'scalar',
    agg_distinct: 'scalar',
    funcformat: ['COERCE_EXPLICIT_CALL', 'COERCE_SQL_SYNTAX'],
    ...here,
  },
  NamedArgExpr: { arg: 'node', name: 'scalar', argnumber: 'scalar', ...here },
  SubLink: {
    subLinkType: ['EXISTS_SUBLINK', 'ALL_SUBLINK', 'ANY_SUBLINK', 'EXPR_SUBLINK', 'ARRAY_SUBLINK'],
    testexpr: 'node',
    operName: 'list',
    subselect: 'node',
    ...here,
  },
  A_ArrayExpr: { elements: 'list', list_start: 'scalar', list_end: 'scalar', ...here },
  A_Indirection: { arg: 'node', indirection: 'list' },
  A_Indices: { is_slice: 'scalar', lidx: 'node', uidx: 'node' },
  RowExpr: { args: 'list', row_format: ['COERCE_EXPLICIT_CALL', 'COERCE_IMPLICIT_CAST'], ...here },
  JsonObjectConstructor: { exprs: 'list', output: '=JsonOutput', ...here },
  JsonKeyValue: { key: 'node', value: '=JsonValueExpr' },
  JsonValueExpr: { raw_expr: 'node', format: '=JsonFormat' },
  JsonOutput: { typeName: '=TypeName', returning: '=JsonReturning' },
  JsonReturning: { format: '=JsonFormat' },
  JsonFormat: { format_type: ['JS_FORMAT_DEFAULT'], encoding: ['JS_ENC_DEFAULT'], ...here },
  List: { items: 'list' },
  String: { sval: 'scalar' },
  Integer: { ival: 'scalar' },
  Float: { fval: 'scalar' },
  Boolean: { boolval: 'scalar' },
}

/** Names of refused kinds and fields in messages; for others the parser's name is used. */
const spoken: Readonly<Record<string, string>> = {
  intoClause: 'SELECT INTO',
  lockingClause: 'FOR UPDATE or FOR SHARE',
  inh: 'ONLY',
  is_rowsfrom: 'ROWS FROM',
  func_variadic: 'VARIADIC',
  repeatable: 'REPEATABLE',
  useOp: 'ORDER BY USING',
  join_using_alias: 'An alias of USING columns',
  bsval: 'A bit string',
  setof: 'SETOF',
}

/** Bounds on the nodes and nesting of one statement. Statements of BI tools stay far below. */
const nodesMax = 60_000
const depthMax = 400

/** Constants and parameters of long lists cost little each. */
const leaves: ReadonlySet<string> = new Set(['A_Const', 'Integer', 'Float', 'String', 'ParamRef'])
const leafWeight = 1 / 8

interface Walk {
  nodes: number
}

/**
 * Refuses a tree that contains anything unlisted.
 *
 * @param tree an unwrapped SelectStmt as the parser gave it
 * @throws SqlError 0A000 naming what is not supported, or 54001 for a tree that is too large or too deep
 */
export function checkTree(tree: unknown): void {
  checkKind('SelectStmt', tree, { nodes: 0 }, 0)
}

function checkKind(kind: string, value: unknown, walk: Walk, depth: number): void {
  const fields = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  if (fields === undefined) throw notSupported(spoken[kind] ?? kind)
  walk.nodes += leaves.has(kind) ? leafWeight : 1
  if (walk.nodes > nodesMax || depth > depthMax)
    throw new SqlError('54001', 'The statement is too long or too deeply nested.')
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new SqlError('XX000', 'The statement could not be compiled.')
  // Not entries(): its arrays took most of this walk, which is a tenth of the time of a long statement.
  for (const field of Object.keys(value)) {
    const content: unknown = Reflect.get(value, field)
    const rule = Object.hasOwn(fields, field) ? fields[field] : undefined
    if (rule === undefined) throw notSupported(spoken[field] ?? `${kind}.${field}`)
    checkField(`${kind}.${field}`, field, rule, content, walk, depth + 1)
  }
  // The parser omits a false flag, so ONLY shows as a missing `inh`.
  if (kind === 'RangeVar' && !('inh' in value)) throw notSupported('ONLY')
}

function checkField(
  place: string,
  field: string,
  rule: FieldRule,
  content: unknown,
  walk: Walk,
  depth: number,
): void {
  if (rule === 'list') {
    if (!Array.isArray(content)) throw notSupported(place)
    for (const each of content) checkNode(each, walk, depth)
  } else if (rule === 'node') checkNode(content, walk, depth)
  else if (rule === 'scalar') {
    if (typeof content === 'object') throw notSupported(place)
  } else if (typeof rule === 'string') checkKind(rule.slice(1), content, walk, depth)
  else if (!rule.some((allowed) => allowed === content))
    throw notSupported(spoken[field] ?? `${place} ${content}`)
}

function checkNode(node: unknown, walk: Walk, depth: number): void {
  if (typeof node !== 'object' || node === null) throw notSupported('An empty node')
  const names = Object.keys(node)
  const [kind] = names
  // An empty element of a list, as in DISTINCT without ON.
  if (kind === undefined) return
  if (names.length !== 1) throw notSupported('A node of several kinds')
  checkKind(kind, Reflect.get(node, kind), walk, depth)
}
