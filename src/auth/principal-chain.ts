/** Identifies who commits by the steps of docs/reference/identity.md 3.1 in order. The first that yields a subject wins. */

import type { BlockList } from 'node:net'
import { contains } from '../base/cidr.ts'
import { Fault } from '../base/fault.ts'
import type { IdentifiedPrincipal } from '../core/principal.ts'
import type { Session } from '../core/session.ts'
import { assertPerson, type ReadBearer } from './bearer.ts'
import { clientCertificateSubject } from './forwarded-client-cert.ts'

export interface PrincipalChainOptions {
  /** Peers whose X-Forwarded-Client-Cert is trusted. */
  readonly trustedProxies: BlockList
  readonly readBearer: ReadBearer
  /** Told of each certificate from a trusted proxy that names no subject. */
  readonly onUnreadableCertificate?: () => void
  /** Whether a request with such a certificate is refused. Otherwise the next step is tried. */
  readonly refusesUnreadableCertificates?: boolean
  /** Reads X-Svc-Principal: for local walkthroughs only. */
  readonly demo: boolean
}

export type IdentifyPrincipal = (
  headers: Headers,
  peerAddress: string | undefined,
  session: Session,
) => Promise<IdentifiedPrincipal>

/**
 * The principal chain as one function of a request. It throws Fault `unauthenticated` where a step's credential is
 * present but names no subject, or a reserved one.
 */
export function principalChain(options: PrincipalChainOptions): IdentifyPrincipal {
  return async (headers, peerAddress, session) => {
    const walkthrough = options.demo ? headers.get('x-svc-principal') : null
    if (walkthrough) {
      assertPerson(walkthrough)
      return { principal: { sub: walkthrough, roles: [] }, source: 'auth_header', verified: false }
    }

    const certificate = headers.get('x-forwarded-client-cert')
    const isFromProxy = peerAddress !== undefined && contains(options.trustedProxies, peerAddress)
    // A proxy sends an empty one for a client without a certificate.
    if (certificate && isFromProxy) {
      const sub = clientCertificateSubject(certificate)
      if (sub !== undefined) {
        assertPerson(sub)
        return { principal: { sub, roles: [] }, source: 'mtls_san', verified: true }
      }
      options.onUnreadableCertificate?.()
      if (options.refusesUnreadableCertificates === true)
        throw new Fault(
          'unauthenticated',
          'The client certificate that the proxy forwards names no URI or DNS name (subjectAltName).',
        )
    }

    const bearer = await options.readBearer(headers.get('authorization'), session)
    if (bearer !== undefined) return { ...bearer, source: 'auth_header' }

    if (session.tenant.length === 0) throw new Fault('unauthenticated', 'No principal could be established.')
    return {
      principal: { sub: session.tenant, roles: session.principal.roles },
      source: 'session',
      verified: true,
    }
  }
}
