/**
 * Exchanges the token of a workload for an access token of ours (RFC 8693), by a trust of a tenant. A workload of
 * Kubernetes or a cloud so needs no secret of its own (docs/reference/identity.md 10).
 */

import { decodeJwt, type JWTPayload } from 'jose'
import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { OnRefused } from '../../core/credential-kind.ts'
import type { Session, SessionScope } from '../../core/session.ts'
import { subjectFits } from '../../core/workload-trust.ts'
import { limits } from '../../limits.ts'
import { exchangeForSession } from '../../store/session/exchanged-sessions.ts'
import { findWorkloadTrust, type StoredTrust } from '../../store/session/workload-trusts.ts'
import type { Store } from '../../store/store.ts'
import { assertForAccess } from '../bearer.ts'
import { tokenCharsMax, verifyByKeys } from '../token-keys.ts'
import type { FindIssuerKeys } from './issuer-keys.ts'

interface ExchangeParts {
  readonly store: Store
  readonly findKeys: FindIssuerKeys
  readonly clock: Clock
  readonly log: Logger
  readonly onRefused: OnRefused
}

/** A problem of an exchange, in OAuth's words. */
interface ExchangeProblem {
  readonly error: 'invalid_request' | 'invalid_scope'
  readonly description: string
}

/**
 * Exchanges one token.
 * @param form of the token request
 * @param prefix of the catalog; the trust's tenant must own it
 * @param mayHave whether some scope is left of those that a trust gives; without any, no session is made
 * @throws Fault where the store fails, or the issuer's keys cannot be fetched
 */
export type ExchangeToken = (
  form: URLSearchParams,
  prefix: string,
  mayHave: (scopes: readonly SessionScope[]) => boolean,
  requestId: string | undefined,
) => Promise<Session | ExchangeProblem>

const urn = 'urn:ietf:params:oauth:token-type:'
const accessTokenType = `${urn}access_token`
const subjectTypes = [`${urn}jwt`, `${urn}id_token`, accessTokenType]

/** The exchange over a store. */
export function tokenExchanger(parts: ExchangeParts): ExchangeToken {
  return async (form, prefix, mayHave, requestId = crypto.randomUUID()) => {
    const problem = problemOf(form)
    if (problem !== undefined) return { error: 'invalid_request', description: problem }
    const trust = await findWorkloadTrust(parts.store, form.get('audience') ?? '', prefix)
    const session =
      trust && (await sessionFor(parts, trust, form.get('subject_token') ?? '', { mayHave, requestId }))
    if (session !== undefined) return session
    parts.onRefused('exchanged_token')
    // The same for all, so that it says neither which trusts exist nor what they ask for. The log says more.
    return { error: 'invalid_request', description: 'The subject token is not accepted by this trust.' }
  }
}

function problemOf(form: URLSearchParams): string | undefined {
  if ((form.get('audience') ?? '') === '') return 'Give the id of the trust as `audience`.'
  const token = form.get('subject_token') ?? ''
  if (token === '') return 'Give the token of the workload as `subject_token`.'
  if (token.length > tokenCharsMax) return `\`subject_token\` may have ${tokenCharsMax} characters at most.`
  if (!subjectTypes.includes(form.get('subject_token_type') ?? ''))
    return `\`subject_token_type\` is one of ${subjectTypes.join(', ')}.`
  const wanted = form.get('requested_token_type') ?? accessTokenType
  if (wanted !== accessTokenType) return `\`requested_token_type\` can be ${accessTokenType} alone.`
  return form.has('actor_token') ? 'Nobody acts for another: leave out `actor_token`.' : undefined
}

async function sessionFor(
  parts: ExchangeParts,
  trust: StoredTrust,
  token: string,
  {
    mayHave,
    requestId,
  }: { readonly mayHave: (scopes: readonly SessionScope[]) => boolean; readonly requestId: string },
): Promise<Session | ExchangeProblem | undefined> {
  try {
    const { sub } = await verify(parts, trust, token)
    // Before the session is made, which nobody could use.
    if (!mayHave(trust.scopes))
      return { error: 'invalid_scope', description: 'The trust gives none of the requested scopes.' }
    const workload = { issuer: trust.issuer, sub: String(sub), requestId }
    return await exchangeForSession(parts.store, trust, workload, limits.accessTokenMs)
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown
    const { tenant, id } = trust
    parts.log.info({ tenant, trust: id, reason: reasonOf(thrown) }, 'the token of a workload was refused')
    return undefined
  }
}

/** @throws Error where the token is not valid for the trust */
async function verify(
  { findKeys, clock }: ExchangeParts,
  { issuer, audience, subject, keySource }: StoredTrust,
  token: string,
): Promise<JWTPayload> {
  // Before any key is fetched.
  if (decodeJwt(token).iss !== issuer) throw new Refused('another issuer')
  const { payload, protectedHeader } = await verifyByKeys(token, await findKeys(keySource), {
    ...{ issuer, audience },
    requiredClaims: ['exp', 'sub'],
    currentDate: new Date(clock.now()),
  })
  assertForAccess(protectedHeader.typ, payload)
  if (typeof payload.sub !== 'string' || !subjectFits(subject, payload.sub))
    throw new Refused('another subject')
  return payload
}

/** Says why in words of ours. */
class Refused extends Error {}

/** Neither a token nor a claim's value, which the errors of the library hold. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof Refused) return thrown.message
  const { code, claim } = thrown as { readonly code?: unknown; readonly claim?: unknown }
  return typeof code === 'string'
    ? [code, claim].filter((one) => typeof one === 'string').join(' ')
    : 'not valid'
}
