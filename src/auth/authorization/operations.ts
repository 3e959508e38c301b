/**
 * Declares the authorization server of `/mcp` (OAuth 2.1): authorization code with PKCE S256, the resource of RFC 8707,
 * the issuer of RFC 9207, and the metadata of RFC 8414 and RFC 9728. People sign in at the tenant's identity provider.
 */

import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Fault } from '../../base/fault.ts'
import { sameSecret } from '../../base/same-secret.ts'
import { mcpScopes } from '../../core/mcp-scope.ts'
import { operationsOf } from '../../http/declare.ts'
import { readBody } from '../../http/read-body.ts'
import { list, maybe, nonEmpty, object, text } from '../../http/schemas.ts'
import { endBrowserSession } from '../../store/session/browser-sessions.ts'
import { useOnce } from '../../store/session/used-once.ts'
import type { Store } from '../../store/store.ts'
import { assertSameOrigin } from '../credentials.ts'
import { beginLogin, configured, type LoginParts } from '../login/begin-login.ts'
import { resourceOf } from './metadata.ts'
import { isOneOf } from './redirect-uri.ts'
import { accessTokenMs, codeMs, defaultScopes, refreshTokenMs } from './terms.ts'
import { type AuthorizationRequest, type Code, type Grant, openTicket, sealTicket } from './tickets.ts'

const operation = operationsOf<LoginParts>()
const tag = 'authorization'
const open = { open: 'everyone' } as const
const noProvider = { not_found: 'No identity provider is configured.' }
const formBytesMax = 32 * 1024

export const authorizationOperations = [
  operation({
    name: 'get_protected_resource',
    tag,
    summary: 'Describes `/mcp` as a protected resource (RFC 9728)',
    method: 'GET',
    path: '/.well-known/oauth-protected-resource/mcp',
    access: open,
    gives: { nothing: 'service' },
    output: resourceSchema(),
    faults: noProvider,
    run: async ({ parts }) => protectedResource(parts),
  }),
  operation({
    name: 'get_protected_resource_at_root',
    tag,
    summary: 'The same, for clients that look at the root',
    method: 'GET',
    path: '/.well-known/oauth-protected-resource',
    access: open,
    gives: { nothing: 'service' },
    output: resourceSchema(),
    faults: noProvider,
    run: async ({ parts }) => protectedResource(parts),
  }),
  operation({
    name: 'get_authorization_server',
    tag,
    summary: 'Describes the authorization server (RFC 8414)',
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    access: open,
    gives: { nothing: 'service' },
    output: Type.Object({ issuer: text, authorization_endpoint: text, token_endpoint: text }),
    faults: noProvider,
    run: async ({ parts }) => authorizationServer(parts),
  }),
  operation({
    name: 'authorize',
    tag,
    summary: 'Begins the sign-in of a person for a client',
    method: 'GET',
    path: '/oauth/authorize',
    access: open,
    gives: { nothing: 'oneself' },
    input: object({
      response_type: maybe(text),
      client_id: nonEmpty,
      redirect_uri: nonEmpty,
      code_challenge: maybe(text),
      code_challenge_method: maybe(text),
      resource: maybe(text),
      scope: maybe(text),
      state: maybe(text),
    }),
    status: 302,
    faults: {
      bad_request: 'The client is unknown, or has no such address to return to.',
      ...noProvider,
      unavailable: 'The identity provider or the database is not available. Try again.',
    },
    respond: ({ parts, request }) => authorize(parts, new URL(request.url).searchParams),
  }),
  operation({
    name: 'consent',
    tag,
    summary: 'Takes the answer of the person, and sends the browser back to the client',
    method: 'POST',
    path: '/oauth/consent',
    access: { open: 'browser' },
    gives: { nothing: 'oneself' },
    status: 302,
    media: { request: ['application/x-www-form-urlencoded'] },
    faults: {
      bad_request: 'The question has expired or was answered.',
      forbidden: 'The request comes from another site’s page.',
      payload_too_large: 'The form is too large.',
    },
    respond: ({ parts, request }) => answerConsent(parts, request),
  }),
  operation({
    name: 'issue_token',
    tag,
    summary: 'Gives a client tokens for a code or a refresh token',
    method: 'POST',
    path: '/oauth/token',
    access: open,
    gives: { nothing: 'oneself' },
    media: { request: ['application/x-www-form-urlencoded'] },
    output: object({
      access_token: text,
      token_type: text,
      expires_in: Type.Integer(),
      refresh_token: text,
      scope: text,
    }),
    badRequest: object({ error: text }),
    faults: {
      bad_request: 'The grant is not valid (RFC 6749, 5.2).',
      payload_too_large: 'The form is too large.',
    },
    respond: ({ parts, request }) => issueToken(parts, request),
  }),
]

function resourceSchema() {
  return object({
    resource: text,
    authorization_servers: list(text),
    scopes_supported: list(text),
    bearer_methods_supported: list(text),
    resource_name: text,
  })
}

function protectedResource(parts: LoginParts) {
  configured(parts)
  return {
    resource: resourceOf(parts.publicUrl()),
    authorization_servers: [parts.publicUrl().origin],
    scopes_supported: [...mcpScopes],
    bearer_methods_supported: ['header'],
    resource_name: 'Covenant',
  }
}

function authorizationServer(parts: LoginParts) {
  configured(parts)
  const { origin } = parts.publicUrl()
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    scopes_supported: [...mcpScopes],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  }
}

async function authorize(parts: LoginParts, given: URLSearchParams): Promise<Response> {
  configured(parts)
  const one = (name: string) => (given.getAll(name).length === 1 ? (given.get(name) ?? '') : '')
  const client = await parts.findClient(one('client_id'))
  const redirectUri = one('redirect_uri')
  // Until the address is the client's own, nothing is sent to it.
  if (!isOneOf(client.redirectUris, redirectUri))
    throw new Fault('bad_request', '`redirect_uri` is not one of the client’s.')
  const state = given.get('state') ?? undefined
  const scopes = wantedScopes(one('scope'))
  const problem = problemOf(parts, given, one, scopes)
  if (problem !== undefined) return back(parts, { redirectUri, state }, { error: problem })
  const challenge = one('code_challenge')
  return await beginLogin(parts, {
    authorization: { clientId: client.id, redirectUri, challenge, state, scopes },
  })
}

const stateCharsMax = 500
const challengePattern = /^[A-Za-z0-9_-]{43}$/

/** The OAuth error of a request whose client and address are valid. */
function problemOf(
  { publicUrl }: LoginParts,
  given: URLSearchParams,
  one: (name: string) => string,
  scopes: readonly string[],
): string | undefined {
  const repeated = [...given.keys()].some((name) => given.getAll(name).length > 1)
  if (repeated || (given.get('state') ?? '').length > stateCharsMax) return 'invalid_request'
  if (one('response_type') !== 'code') return 'unsupported_response_type'
  if (one('code_challenge_method') !== 'S256' || !challengePattern.test(one('code_challenge')))
    return 'invalid_request'
  if (one('resource') !== resourceOf(publicUrl())) return 'invalid_target'
  return scopes.length === 0 ? 'invalid_scope' : undefined
}

/** The scopes that are asked for and supported; the default where none is asked for. */
function wantedScopes(scope: string): readonly string[] {
  const names = scope.split(' ').filter(Boolean)
  return names.length === 0 ? defaultScopes : mcpScopes.filter((one) => names.includes(one))
}

/** Sends the browser back to the client, with the issuer (RFC 9207). */
function back(
  { publicUrl }: LoginParts,
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  result: Readonly<Record<string, string>>,
): Response {
  const location = new URL(redirectUri)
  const all = { ...result, ...(state !== undefined && { state }), iss: publicUrl().origin }
  for (const [name, value] of Object.entries(all)) location.searchParams.set(name, value)
  return new Response(null, { status: 302, headers: { location: location.href } })
}

async function formOf(request: Request): Promise<URLSearchParams> {
  const { bytes } = await readBody(request, formBytesMax)
  return new URLSearchParams(Buffer.from(bytes).toString())
}

async function answerConsent(parts: LoginParts, request: Request): Promise<Response> {
  assertSameOrigin(request)
  const { store, clock } = parts
  const form = await formOf(request)
  const ticket = form.get('consent') ?? ''
  const resource = resourceOf(parts.publicUrl())
  const consent = openTicket(store, 'consent', resource, ticket, clock.now())
  if (consent === undefined || !(await usedFirst(store, ticket)))
    throw new Fault('bad_request', 'This question has expired or was answered. Start again in your client.')
  if (form.get('answer') !== 'allow') {
    await endBrowserSession(store, consent.secret)
    return back(parts, consent, { error: 'access_denied' })
  }
  const { secret, clientId, scopes, redirectUri, challenge } = consent
  const content: Code = {
    ...{ secret, clientId, scopes, redirectUri, challenge },
    expiresAtMs: clock.now() + codeMs,
  }
  return back(parts, consent, { code: sealTicket(store, 'code', resource, content) })
}

function usedFirst(store: Store, ticket: string): Promise<boolean> {
  return store.adminTransaction((tx) => useOnce(tx, 'authorization', ticket, refreshTokenMs))
}

async function issueToken(parts: LoginParts, request: Request): Promise<Response> {
  const form = await formOf(request)
  if ([...form.keys()].some((name) => form.getAll(name).length > 1)) return refuse('invalid_request')
  const one = (name: string) => form.get(name) ?? ''
  if (one('resource') !== '' && one('resource') !== resourceOf(parts.publicUrl()))
    return refuse('invalid_target')
  switch (one('grant_type')) {
    case 'authorization_code':
      return await forCode(parts, one)
    case 'refresh_token':
      return await forRefresh(parts, one)
    default:
      return refuse('unsupported_grant_type')
  }
}

async function forCode(parts: LoginParts, one: (name: string) => string): Promise<Response> {
  const { store, clock } = parts
  const code = openTicket(store, 'code', resourceOf(parts.publicUrl()), one('code'), clock.now())
  const isClients =
    code !== undefined && code.clientId === one('client_id') && code.redirectUri === one('redirect_uri')
  const challenge = createHash('sha256').update(one('code_verifier')).digest('base64url')
  if (!isClients || !sameSecret(challenge, code.challenge)) return refuse('invalid_grant')
  return await grant(parts, code, one('code'), code.scopes)
}

async function forRefresh(parts: LoginParts, one: (name: string) => string): Promise<Response> {
  const { store, clock } = parts
  const ticket = one('refresh_token')
  const found = openTicket(store, 'refresh', resourceOf(parts.publicUrl()), ticket, clock.now())
  if (found === undefined || found.clientId !== one('client_id')) return refuse('invalid_grant')
  const names = one('scope').split(' ').filter(Boolean)
  if (!names.every((name) => found.scopes.includes(name))) return refuse('invalid_scope')
  return await grant(parts, found, ticket, names.length === 0 ? found.scopes : names)
}

/** Gives tokens once. A ticket that comes again was stolen from somebody, so its session ends. */
async function grant(
  { store, clock, publicUrl }: LoginParts,
  { secret, clientId, scopes: granted }: Grant,
  ticket: string,
  scopes: readonly string[],
): Promise<Response> {
  if (!(await usedFirst(store, ticket))) {
    await endBrowserSession(store, secret)
    return refuse('invalid_grant')
  }
  const resource = resourceOf(publicUrl())
  const until = (ms: number) => clock.now() + ms
  const access: Grant = { secret, clientId, scopes, expiresAtMs: until(accessTokenMs) }
  const refresh: Grant = { secret, clientId, scopes: granted, expiresAtMs: until(refreshTokenMs) }
  return Response.json({
    access_token: sealTicket(store, 'access', resource, access),
    token_type: 'Bearer',
    expires_in: accessTokenMs / 1_000,
    refresh_token: sealTicket(store, 'refresh', resource, refresh),
    scope: scopes.join(' '),
  })
}

function refuse(error: string): Response {
  return Response.json({ error }, { status: 400 })
}
