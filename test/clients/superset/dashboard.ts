/** Makes dashboards through Superset's REST API: a dataset of one relation, with charts of it. */

type Json = Record<string, unknown>

export interface Dataset {
  readonly id: number
  /** Names of the columns that Superset found by itself. */
  readonly columns: readonly string[]
  /** ISO 8601 durations that Superset offers to group times by. */
  readonly grains: readonly string[]
}

export interface Superset {
  /** Names of the relations of a schema, as Superset lists them. */
  readonly listTables: (schema: string) => Promise<readonly string[]>
  /** @param metrics SQL expressions by name, besides `count` */
  readonly addDataset: (table: string, metrics?: Readonly<Record<string, string>>) => Promise<Dataset>
  /** @returns its id */
  readonly addDashboard: (title: string, dataset: Dataset, charts: readonly Chart[]) => Promise<number>
  /** Has Superset take columns for times: their `python_date_format` by name, with an expression where they have one. */
  readonly declareTimes: (dataset: Dataset, times: readonly TimeColumn[]) => Promise<void>
  /** What a chart of a dataset asks for, answered. */
  readonly ask: (dataset: Dataset, query: Json) => Promise<readonly Json[]>
  /** The same with the statement that Superset made of it; undefined where the database refuses it. */
  readonly chart: (dataset: Dataset, query: Json) => Promise<ChartAnswer | undefined>
}

export interface TimeColumn {
  readonly name: string
  readonly format: string
  readonly expression?: string
}

export interface ChartAnswer {
  readonly query: string
  readonly data: readonly Json[]
}

export interface Chart extends Json {
  readonly name: string
  readonly viz_type: string
}

interface ShownColumn {
  readonly id: number
  readonly column_name: string
  readonly type: string
  readonly is_dttm: boolean
}

interface Answer {
  readonly id: number
  readonly access_token: string
}

/** Logs in and connects a database. @param uri SQLAlchemy URI of the data @param name of it in Superset */
export async function openSuperset(base: string, uri: string, name = 'lake'): Promise<Superset> {
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
  const lake = await call('/api/v1/database/', { database_name: name, sqlalchemy_uri: uri })
  const shown = (id: number) =>
    call<{ result: { columns: ShownColumn[]; time_grain_sqla: [string | null, string][] } }>(
      `/api/v1/dataset/${id}`,
      undefined,
      'GET',
    )
  const asked = async ({ id }: Dataset, query: Json) => {
    const { result } = await call<{ result: { data: Json[]; query: string }[] }>('/api/v1/chart/data', {
      datasource: { id, type: 'table' },
      queries: [query],
      result_format: 'json',
      result_type: 'full',
    })
    return result[0]
  }
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
      const { result } = await shown(id)
      return {
        id,
        columns: result.columns.map(({ column_name: column }) => column),
        grains: result.time_grain_sqla.flatMap(([grain]) => grain ?? []),
      }
    },
    async declareTimes({ id }, times) {
      const { result } = await shown(id)
      // All columns are put, so those that are there keep what they have.
      const kept = result.columns
        .filter((column) => !times.some(({ name: one }) => one === column.column_name))
        .map(({ id: number, column_name, type, is_dttm }) => ({ id: number, column_name, type, is_dttm }))
      const put = times.map(({ name: column, format, expression }) => ({
        ...result.columns
          .filter(({ column_name }) => column_name === column)
          .map(({ id: number, type }) => ({ id: number, type }))[0],
        ...{ column_name: column, is_dttm: true, python_date_format: format },
        ...(expression !== undefined && { expression, type: 'TEXT' }),
      }))
      await call(`/api/v1/dataset/${id}`, { columns: [...kept, ...put] }, 'PUT')
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
    async ask(dataset, query) {
      return (await asked(dataset, query))?.data ?? []
    },
    async chart(dataset, query) {
      try {
        const found = await asked(dataset, query)
        return { query: found?.query ?? '', data: found?.data ?? [] }
      } catch (error) {
        if (!/answered 400: /.test(String(error))) throw error
        return undefined
      }
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
