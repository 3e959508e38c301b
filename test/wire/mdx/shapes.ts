/** Statements of each shape that clients of multidimensional models send, over the names of one small cube. */

const fields = '[MEMBER_UNIQUE_NAME],[MEMBER_CAPTION],[LEVEL_UNIQUE_NAME],[LEVEL_NUMBER],[PARENT_UNIQUE_NAME]'
const cell = 'CELL PROPERTIES VALUE, FORMAT_STRING, LANGUAGE, BACK_COLOR, FORE_COLOR, FONT_FLAGS'
const level = (hierarchy: string) =>
  `Hierarchize({DrilldownLevel({${hierarchy}.[All]},,,INCLUDE_CALC_MEMBERS)})`
const status = '[orders].[status]'
const region = '[orders].[region]'

export const shapes = {
  'a total': 'SELECT FROM [sales.orders] WHERE ([Measures].[revenue])',
  'several values': `SELECT {[Measures].[revenue],[Measures].[orders]} ON COLUMNS FROM [sales.orders] ${cell}`,
  'a field on rows': `SELECT NON EMPTY ${level(region)} DIMENSION PROPERTIES PARENT_UNIQUE_NAME,HIERARCHY_UNIQUE_NAME ON COLUMNS FROM [sales.orders] WHERE ([Measures].[revenue]) ${cell}`,
  'two fields': `SELECT NON EMPTY CrossJoin(${level(region)}, ${level(status)}) DIMENSION PROPERTIES ${fields} ON ROWS, {[Measures].[revenue]} ON COLUMNS FROM [sales.orders]`,
  'nested rows': `SELECT NON EMPTY Hierarchize(DrilldownMember(CrossJoin({${region}.[All],${region}.[region].AllMembers}, {(${status}.[All])}), ${region}.[region].AllMembers, ${status})) ON 0 FROM [sales.orders]`,
  'a collapsed row': `SELECT Hierarchize(DrilldownMember(CrossJoin({${region}.[All],${region}.[region].AllMembers}, {(${status}.[All])}), {-{${region}.&[north]}}, ${status})) ON 0 FROM [sales.orders]`,
  'expanded members': `SELECT DrilldownMember({{DrilldownLevel({[orders].[day calendar].[All]},,,INCLUDE_CALC_MEMBERS)}}, {[orders].[day calendar].[Year].&[2026-01-01]},,,INCLUDE_CALC_MEMBERS) ON 0 FROM [sales.orders]`,
  'members drilled up': `SELECT DrillupMember(DrilldownLevel({${region}.[All]},,0), {${region}.[All]}) ON 0 FROM [sales.orders]`,
  'a subselect': `SELECT ${level(region)} ON 0 FROM (SELECT ({${region}.&[north],${region}.&[it]]s]}) ON COLUMNS FROM (SELECT ({${status}.&[paid]}, {${region}.&}) ON COLUMNS FROM [sales.orders])) WHERE ([Measures].[revenue])`,
  'a subselect with totals of the whole cube': `SELECT ${level(region)} ON 0 FROM NON VISUAL (SELECT ({${region}.&[north]}) ON COLUMNS FROM VISUAL (SELECT ({${status}.&[paid]}) ON COLUMNS FROM [sales.orders])) WHERE ([Measures].[revenue])`,
  'a label filter': `SELECT ${level(region)} ON 0 FROM (SELECT Filter(${region}.[region].AllMembers, (InStr(1, ${region}.CurrentMember.MEMBER_CAPTION, "o") > 0 AND Left(${region}.CurrentMember.MEMBER_CAPTION, 1) <> "x")) ON COLUMNS FROM [sales.orders])`,
  'a set named where it stands': `SELECT {[Measures].[revenue]} ON 0 FROM (SELECT Generate(Hierarchize({${region}.[All]}) AS [XL_Filter_Set_0], TopCount(Except(DrilldownLevel([XL_Filter_Set_0].Current AS [XL_Filter_HelperSet_0], , 0), [XL_Filter_HelperSet_0]), 2, [Measures].[revenue])) ON COLUMNS FROM [sales.orders])`,
  'the ten greatest': `WITH SET [XL_Filter_Set_0] AS TopCount(${region}.[region].Members, 10, [Measures].[revenue]) SELECT {[Measures].[revenue]} ON 0 FROM (SELECT Generate({${status}.[All]}, [XL_Filter_Set_0]) ON COLUMNS FROM [sales.orders])`,
  'a list of members': `SELECT {AddCalculatedMembers({${region}.[region].Members}), ${region}.[All].Children} DIMENSION PROPERTIES MEMBER_TYPE ON COLUMNS FROM [sales.orders] CELL PROPERTIES CELL_ORDINAL`,
  'an expandable member': `WITH MEMBER [Measures].cChildren AS 'AddCalculatedMembers(${region}.currentmember.children).count' SET FilteredMembers AS '{${region}.[All]}' SELECT {[Measures].cChildren} ON COLUMNS, Hierarchize(Generate(FilteredMembers, Ascendants(${region}.currentmember))) DIMENSION PROPERTIES PARENT_UNIQUE_NAME ON ROWS FROM [sales.orders]`,
  'calculated members': `WITH MEMBER [Measures].[share] AS IIF([Measures].[orders] = 0, NULL, [Measures].[revenue] / ([Measures].[revenue], ${region}.[All])), FORMAT_STRING = "0.0%", SOLVE_ORDER = 2 MEMBER [Measures].[two] AS CASE WHEN 1 > 2 THEN -1.5 ELSE 2 ^ 3 * (1 + 2) END SELECT {[Measures].[share], [Measures].[two]} ON 0 FROM [sales.orders]`,
  'members from texts': `SELECT {StrToMember("${region}.&[north]")} ON 0, StrToSet("{${region}.&[north]}", CONSTRAINED) ON 1 FROM [sales.orders]`,
  'a refresh': 'REFRESH CUBE [sales.orders]',
  'drilling through': `DRILLTHROUGH MAXROWS 1000 SELECT FROM [sales.orders] WHERE ([Measures].[revenue], ${region}.&[north]) RETURN [Measures].[revenue], ${region}`,
  'drilling through to parts of members': `DRILLTHROUGH MAXROWS 10 FIRSTROWSET 1 SELECT FROM [sales.orders] RETURN KEY(${region}), KEY(${status}, 0), Name(${region}.[region]), UniqueName(${region}), MemberValue(${region}), Caption(${region}), [Measures].[revenue]`,
  'functions of a library': `WITH MEMBER [Measures].[x] AS VBA!Format(VBAMDX!Now(), "yyyy") SELECT FROM [sales.orders]`,
  'a statement without a cube': 'SELECT {[Measures].[revenue]} ON 0 FROM CELL PROPERTIES VALUE',
  'other tools': `SELECT Order(Except(Union({${region}.Members}, {}), {${region}.&[x]}), [Measures].[revenue], BDESC) * {[Measures].Members} HAVING NOT IsEmpty([Measures].[revenue]) ON 0, VisualTotals(Distinct(Hierarchize({Ascendants(${region}.&[north]), Descendants(${region}.&[north])}))) ON AXIS(1) FROM [sales.orders]`,
  'a set of a session': `CREATE SESSION SET [sales.orders].[s] AS '{${region}.[region].Members}'`,
  'a member of a session':
    'CREATE SESSION MEMBER [sales.orders].[Measures].[x] AS "[Measures].[revenue] * 2", FORMAT_STRING = "0"',
  'a member without quotes, of the cube of the connection':
    'CREATE CALCULATED MEMBER CURRENTCUBE.[Measures].[x] AS [Measures].[revenue] * 2, FORMAT_STRING = "0", SOLVE_ORDER = 1, VISIBLE = 0, CAPTION = "Twice"',
  'several of a session': `CREATE SESSION MEMBER [sales.orders].[Measures].[x] AS '[Measures].[revenue] * 2', SOLVE_ORDER = 3 CALCULATED MEMBER [sales.orders].[Measures].[y] AS [Measures].[x] + 1, DYNAMIC SET [sales.orders].[s] AS {${region}.Members} HIDDEN STATIC SET [sales.orders].[t] AS {}`,
  'a hidden set': `CREATE HIDDEN SET [sales.orders].[s] AS {${region}.[region].Members}`,
  'a calculated member of a statement':
    'WITH CALCULATED MEMBER [Measures].[x] AS 1 SELECT FROM [sales.orders]',
  'the end of several sets': 'DROP SESSION SET [sales.orders].[s], [sales.orders].[t]',
  'the end of a member': 'DROP MEMBER [sales.orders].[Measures].[x]',
} as const satisfies Readonly<Record<string, string>>
