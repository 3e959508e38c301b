/** Defines a legal query as a tool would write it. */

import type { ParameterValue } from '../../../src/query/compile/base/ir.ts'

type Tool =
  | 'Tableau'
  | 'Power BI'
  | 'Metabase'
  | 'Superset'
  | 'Looker'
  | 'DBeaver'
  | 'Grafana'
  | 'SQLAlchemy'
  | 'asyncpg'
  | 'knex'
  | 'drizzle'
  | 'PDO'
  | 'DBD::Pg'
  | 'tokio-postgres'
  | 'Django'
  | 'Rails'
  | 'pgjdbc'
  | 'Airbyte'
  | 'Census'
  | 'Cognos'
  | 'Cube'
  | 'DataGrip'
  | 'Fivetran'
  | 'Great Expectations'
  | 'Hex'
  | 'Hibernate'
  | 'Hightouch'
  | 'Ibis'
  | 'Lightdash'
  | 'MicroStrategy'
  | 'Mode'
  | 'Prisma'
  | 'Qlik'
  | 'QuickSight'
  | 'Redash'
  | 'SSRS'
  | 'Sequelize'
  | 'Sigma'
  | 'Soda'
  | 'TypeORM'
  | 'dbt'
  | 'pgcli'
  | 'sqlx'

export interface CorpusQuery {
  readonly tool: Tool
  readonly sql: string
  readonly parameters?: readonly (string | null)[]
}

/** Queries of one tool. */
export function of(
  tool: CorpusQuery['tool'],
  statements: readonly (string | readonly [string, ...(string | null)[]])[],
): CorpusQuery[] {
  return statements.map((each) => {
    if (typeof each === 'string') return { tool, sql: each }
    const [sql, ...parameters] = each
    return { tool, sql, parameters }
  })
}

/** Values of a query's parameters, for the compiler. */
export function parameterValues(parameters: readonly (string | null)[] = []): readonly ParameterValue[] {
  return parameters.map((value, index) => [index + 1, value])
}
