/** Makes dashboards through Superset's REST API: a dataset of one relation, with charts of it. */

type Json = Record<string, unknown>

export interface Dataset {
  readonly id: number
  /** Names of the columns that Superset found by itself. */
  readonly columns: readonly string[]
}

export interface Superset {
  /** Names of the relations of a schema, as Superset lists them. */
  readonly listTables: (schema: string) => Promise<readonly string[]>
  /** @param metrics SQL expressions by name, besides `count` */
  readonly addDataset: (table: string, metrics?: Readonly<Record<string, string>>) => Promise<Dataset>
  /** @returns its id */
  readonly addDashboard: (title: string, dataset: Dataset, charts: readonly Chart[]) => Promise<number>
  /** What a chart of a dataset asks for, answered. */
  readonly ask: (dataset: Dataset, query: Json) => Promise<readonly Json[]>
}

export interface Chart extends Json {
  readonly name: string
  readonly viz_type: string
}

interface Answer {
  readonly id: number
  readonly access_token: string
}

/** Logs in and connects a database. @param uri SQLAlchemy URI of the data */
export async function openSuperset(base: string, uri: string): Promise<Superset> {
  let token = ''
  const call = async <T = Answer>(path: string, body?: Json, method = 'POST'): Promise<T> => {
    const response = await fetch(base + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token !== '' && { authorization: `Bearer ${token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 1_000)}`)
    return JSON.parse(text) as T
  }
  const login = { username: 'admin', password: 'admin', provider: 'db', refresh: false }
  token = (await call('/api/v1/security/login', login)).access_token
  const lake = await call('/api/v1/database/', { database_name: 'lake', sqlalchemy_uri: uri })
  return {
    async listTables(schema) {
      const path = `/api/v1/database/${lake.id}/tables/?q=(force:!t,schema_name:${schema})`
      const { result } = await call<{ result: { value: string }[] }>(path, undefined, 'GET')
      return result.map(({ value }) => value)
    },
    async addDataset(table, metrics = {}) {
      const { id } = await call('/api/v1/dataset/', { database: lake.id, schema: 'sales', table_name: table })
      const made = Object.entries(metrics).map(([name, expression]) => ({
        ...{ metric_name: name, verbose_name: name, expression },
      }))
      if (made.length > 0) await call(`/api/v1/dataset/${id}`, { metrics: made }, 'PUT')
      const { result } = await call<{ result: { columns: { column_name: string }[] } }>(
        `/api/v1/dataset/${id}`,
        undefined,
        'GET',
      )
      return { id, columns: result.columns.map(({ column_name: name }) => name) }
    },
    async addDashboard(title, { id: dataset }, charts) {
      const ids: number[] = []
      for (const { name, ...params } of charts) {
        const { id } = await call('/api/v1/chart/', {
          slice_name: name,
          viz_type: params.viz_type,
          datasource_id: dataset,
          datasource_type: 'table',
          params: JSON.stringify({ datasource: `${dataset}__table`, adhoc_filters: [], ...params }),
        })
        ids.push(id)
      }
      const dashboard = await call('/api/v1/dashboard/', {
        dashboard_title: title,
        published: true,
        position_json: JSON.stringify(positions(ids)),
      })
      for (const id of ids) await call(`/api/v1/chart/${id}`, { dashboards: [dashboard.id] }, 'PUT')
      return dashboard.id
    },
    async ask({ id }, query) {
      const { result } = await call<{ result: { data: Json[] }[] }>('/api/v1/chart/data', {
        datasource: { id, type: 'table' },
        queries: [query],
        result_format: 'json',
        result_type: 'full',
      })
      return result[0]?.data ?? []
    },
  }
}

function positions(ids: readonly number[]): Json {
  const charts = ids.map((chartId, index): [string, Json] => [
    `CHART-${chartId}`,
    {
      type: 'CHART',
      id: `CHART-${chartId}`,
      children: [],
      parents: ['ROOT_ID', 'GRID_ID', 'ROW-1'],
      meta: { chartId, width: index === 0 ? 5 : 7, height: 50 },
    },
  ])
  const row = {
    type: 'ROW',
    id: 'ROW-1',
    children: charts.map(([id]) => id),
    parents: ['ROOT_ID', 'GRID_ID'],
  }
  return {
    DASHBOARD_VERSION_KEY: 'v2',
    ROOT_ID: { type: 'ROOT', id: 'ROOT_ID', children: ['GRID_ID'] },
    GRID_ID: { type: 'GRID', id: 'GRID_ID', children: ['ROW-1'], parents: ['ROOT_ID'] },
    'ROW-1': { ...row, meta: { background: 'BACKGROUND_TRANSPARENT' } },
    ...Object.fromEntries(charts),
  }
}
