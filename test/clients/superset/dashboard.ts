/** Makes a dashboard through Superset's REST API: a pie of orders by region, and a table of orders. */

export interface Dashboard {
  readonly id: number
  /** What the dataset answers by region. */
  readonly byRegion: readonly { readonly region: string; readonly count: number }[]
}

type Json = Record<string, unknown>

/** @param database SQLAlchemy URI of the data */
export async function makeDashboard(base: string, database: string): Promise<Dashboard> {
  let token = ''
  const call = async (path: string, body: Json, method = 'POST') => {
    const response = await fetch(base + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token !== '' && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 1_000)}`)
    return JSON.parse(text) as { id: number; access_token: string; result: { data: never }[] }
  }
  const login = { username: 'admin', password: 'admin', provider: 'db', refresh: false }
  token = (await call('/api/v1/security/login', login)).access_token
  const lake = await call('/api/v1/database/', { database_name: 'lake', sqlalchemy_uri: database })
  const dataset = await call('/api/v1/dataset/', { database: lake.id, schema: 'sales', table_name: 'orders' })
  const charts = [
    {
      name: 'Orders by region',
      viz_type: 'pie',
      groupby: ['region'],
      metric: 'count',
      label_type: 'key_value',
      number_format: 'SMART_NUMBER',
      row_limit: 100,
    },
    {
      name: 'Orders',
      viz_type: 'table',
      query_mode: 'raw',
      all_columns: ['id', 'email', 'region', 'amount', 'day'],
      order_by_cols: ['["id", true]'],
      row_limit: 8,
    },
  ]
  const ids: number[] = []
  for (const { name, ...params } of charts) {
    const { id } = await call('/api/v1/chart/', {
      slice_name: name,
      viz_type: params.viz_type,
      datasource_id: dataset.id,
      datasource_type: 'table',
      params: JSON.stringify({ datasource: `${dataset.id}__table`, adhoc_filters: [], ...params }),
    })
    ids.push(id)
  }
  const dashboard = await call('/api/v1/dashboard/', {
    dashboard_title: 'Governed orders',
    published: true,
    position_json: JSON.stringify(positions(ids)),
  })
  for (const id of ids) await call(`/api/v1/chart/${id}`, { dashboards: [dashboard.id] }, 'PUT')
  const { result } = await call('/api/v1/chart/data', {
    datasource: { id: dataset.id, type: 'table' },
    queries: [{ columns: ['region'], metrics: ['count'], orderby: [['region', true]], row_limit: 10 }],
    result_format: 'json',
    result_type: 'full',
  })
  return { id: dashboard.id, byRegion: result[0]?.data ?? [] }
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
