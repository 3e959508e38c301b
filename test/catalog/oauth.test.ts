import { describe, expect, test } from 'bun:test'
import { OAuthTokens } from '../../src/catalog/oauth.ts'
import { UpstreamHttpError, type UpstreamResponse } from '../../src/catalog/upstream-http.ts'
import { openTestCatalog, rejection, startUpstream, table, tableResult } from './upstream.ts'

const credentials = {
  clientId: 'id',
  clientSecret: 'hunter2',
  tokenUrl: new URL('https://idp.example/token'),
  scope: 'PRINCIPAL_ROLE:ALL',
}

function tokensOf(answers: readonly (UpstreamResponse | Error)[]) {
  const clock = { nowMs: 0, now: () => clock.nowMs }
  const forms: URLSearchParams[] = []
  const send = async (form: URLSearchParams) => {
    const answer = answers[Math.min(forms.length, answers.length - 1)]
    forms.push(form)
    if (answer === undefined || answer instanceof Error) throw answer
    return answer
  }
  return { tokens: new OAuthTokens(credentials, send, clock), clock, forms }
}

function answer(status: number, value: unknown): UpstreamResponse {
  return { status, headers: new Headers(), body: new TextEncoder().encode(JSON.stringify(value)) }
}

const token = (text: string, seconds?: number) =>
  answer(200, {
    access_token: text,
    token_type: 'bearer',
    ...(seconds === undefined ? {} : { expires_in: seconds }),
  })
const { signal } = new AbortController()

describe('OAuthTokens', () => {
  test('asks by client credentials, with the scope', async () => {
    const { tokens, forms } = tokensOf([token('a', 3600)])
    expect(await tokens.token(signal)).toBe('a')
    expect(Object.fromEntries(forms[0] ?? [])).toEqual({
      grant_type: 'client_credentials',
      client_id: 'id',
      client_secret: 'hunter2',
      scope: 'PRINCIPAL_ROLE:ALL',
    })
  })

  test('gives concurrent callers one request', async () => {
    const { tokens, forms } = tokensOf([token('a', 3600)])
    expect(await Promise.all([tokens.token(signal), tokens.token(signal), tokens.token(signal)])).toEqual([
      'a',
      'a',
      'a',
    ])
    expect(forms).toHaveLength(1)
  })

  test('renews in the background near the end, and in the foreground after it', async () => {
    const { tokens, clock, forms } = tokensOf([token('a', 3600), token('b', 3600), token('c', 3600)])
    await tokens.token(signal)
    clock.nowMs = 3_539_999
    expect([await tokens.token(signal), forms.length]).toEqual(['a', 1])
    clock.nowMs = 3_540_000
    expect(await tokens.token(signal)).toBe('a')
    expect(forms).toHaveLength(2)
    await Promise.resolve()
    expect(await tokens.token(signal)).toBe('b')
    clock.nowMs = 10_000_000
    expect(await tokens.token(signal)).toBe('c')
  })

  test('goes on with the present token while a background renewal fails', async () => {
    const { tokens, clock } = tokensOf([
      token('a', 3600),
      new UpstreamHttpError(true, 'dropped the connection'),
    ])
    await tokens.token(signal)
    clock.nowMs = 3_590_000
    expect([await tokens.token(signal), await tokens.token(signal)]).toEqual(['a', 'a'])
    clock.nowMs = 3_600_000
    expect(await rejection(tokens.token(signal))).toMatchObject({ kind: 'upstream_failed' })
  })

  test('keeps a token without a lifetime until it is refused', async () => {
    const { tokens, clock, forms } = tokensOf([token('a'), token('b')])
    await tokens.token(signal)
    clock.nowMs = 1e12
    tokens.invalidate('another')
    expect([await tokens.token(signal), forms.length]).toEqual(['a', 1])
    tokens.invalidate('a')
    expect(await tokens.token(signal)).toBe('b')
  })

  test('a caller that leaves does not end the request of the others', async () => {
    const answered = Promise.withResolvers<UpstreamResponse>()
    const tokens = new OAuthTokens(credentials, () => answered.promise, { now: () => 0 })
    const caller = new AbortController()
    const [left, stayed] = [rejection(tokens.token(caller.signal)), tokens.token(signal)]
    caller.abort()
    expect(await left).toMatchObject({ sent: false })
    answered.resolve(token('a'))
    expect(await stayed).toBe('a')
  })

  test.each([
    [answer(401, { error: 'invalid_client' }), 'ErrCredentialsExpired', '(invalid_client)'],
    [answer(400, { error: 'hunter2 is wrong!' }), 'ErrCredentialsExpired', 'client credentials.'],
    [answer(403, null), 'ErrCredentialsExpired', 'client credentials.'],
    [answer(500, {}), 'upstream_failed', 'answered 500'],
    [answer(501, {}), 'upstream_failed', 'answered 501'],
    [answer(302, {}), 'upstream_failed', 'answered 302'],
    [answer(200, {}), 'upstream_failed', 'without an access token'],
    [answer(200, { access_token: 'a b\r\nX: y' }), 'upstream_failed', 'without an access token'],
    [answer(200, { access_token: 'a', token_type: 'mac' }), 'upstream_failed', 'not a bearer token'],
    [answer(200, []), 'upstream_failed', 'without an access token'],
  ])('tells refused credentials from a failing service: %#', async (response, outcome, sentence) => {
    const thrown = (await rejection(tokensOf([response]).tokens.token(signal))) as {
      kind?: string
      code?: string
      publicMessage: string
    }
    expect(thrown.kind ?? thrown.code).toBe(outcome)
    expect(thrown.publicMessage).toContain(sentence)
    expect(thrown.publicMessage).not.toContain('hunter2')
  })
})

describe('a refused token', () => {
  async function run(refusals: number, calls: number) {
    let tokens = 0
    const upstream = startUpstream((request, path) => {
      if (path === '/v1/oauth/tokens')
        return Response.json({ access_token: `t${++tokens}`, expires_in: 3600 })
      const given = Number(request.headers.get('authorization')?.replace('Bearer t', ''))
      return given > refusals ? new Response(tableResult()) : new Response(null, { status: 401 })
    })
    try {
      const catalog = openTestCatalog(upstream.url, { config: { credential: 'id:hunter2' } })
      const outcomes = await Promise.allSettled(Array.from({ length: calls }, () => catalog.getTable(table)))
      const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      return { tokens, failures }
    } finally {
      await upstream.stop()
    }
  }

  test('is renewed once for all that were refused, and they are sent again', async () => {
    expect(await run(1, 8)).toEqual({ tokens: 2, failures: [] })
  })

  test('twice over is ErrCredentialsExpired', async () => {
    const { failures } = await run(1_000, 1)
    expect(failures).toMatchObject([{ code: 'ErrCredentialsExpired' }])
  })

  test('that cannot be renewed is ErrCredentialsExpired at once', async () => {
    const upstream = startUpstream(() => new Response(null, { status: 419 }))
    try {
      const catalog = openTestCatalog(upstream.url, { config: { token: 'hunter2' } })
      expect(await rejection(catalog.getTable(table))).toMatchObject({ code: 'ErrCredentialsExpired' })
      expect(upstream.seen).toHaveLength(2)
    } finally {
      await upstream.stop()
    }
  })
})
