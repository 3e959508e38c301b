/** Sends operations to /graphql, and follows subscriptions over server-sent events. */

import type { TestService } from './service.ts'

export interface GraphqlError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions?: { readonly code?: string }
}

export interface GraphqlAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the shape is the document's.
  readonly data: any
  readonly errors: readonly GraphqlError[]
  readonly text: string
}

type Served = { readonly app: Pick<TestService['app'], 'url'> }

/** Sends one operation. */
export async function graphql(
  { app }: Served,
  secret: string | undefined,
  query: string,
  variables: object = {},
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<GraphqlAnswer> {
  const response = await fetch(new URL('/graphql', app.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(secret !== undefined && { 'x-svc-session': secret }),
      ...headers,
    },
    body: JSON.stringify({ ...(query !== '' && { query }), variables, ...more }),
  })
  const text = await response.text()
  const body = JSON.parse(text) as { data?: unknown; errors?: readonly GraphqlError[] }
  return { status: response.status, data: body.data, errors: body.errors ?? [], text }
}

export interface Subscribed extends AsyncDisposable {
  readonly status: number
  /** The next value; undefined once the stream has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is the document's.
  readonly next: () => Promise<any>
}

/** Opens a subscription. */
export async function subscribe(
  { app }: Served,
  secret: string,
  query: string,
  variables: object = {},
): Promise<Subscribed> {
  const leaving = new AbortController()
  const response = await fetch(new URL('/graphql', app.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'x-svc-session': secret,
    },
    body: JSON.stringify({ query, variables }),
    signal: leaving.signal,
  })
  const values = valuesOf(response)
  return {
    status: response.status,
    next: async () => (await values.next()).value,
    async [Symbol.asyncDispose]() {
      leaving.abort()
      await values.return(undefined).catch(() => {})
    },
  }
}

async function* valuesOf(response: Response): AsyncGenerator<unknown, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length)
      if (lines.includes('event: complete')) return undefined
      if (data !== undefined && data !== '') yield JSON.parse(data)
    }
  }
  return undefined
}
