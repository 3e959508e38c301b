/**
 * Types of the operations of our own API. Each declares itself once: the route, its validation and the OpenAPI
 * document follow from it. `http/declare.ts` infers the types, and `server/rest` serves the operations.
 */

import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { FaultKind } from '../base/fault.ts'
import type { Actor } from './administration.ts'
import type { Capability } from './capability.ts'
import type { GivesOfTables } from './gives.ts'
import type { IdentifiedPrincipal, Principal, PrivilegedRole } from './principal.ts'
import type { Session, SessionScope } from './session.ts'
import type { TenantId } from './tenant.ts'

/** Needs a session with this scope, a verified principal with one of the roles, and a license for the capability. */
export interface SessionAccess {
  readonly scope: SessionScope
  /** One of them is enough; none is needed where absent. */
  readonly roles?: readonly PrivilegedRole[]
  readonly capability?: Capability
}

/** Who may call an operation; checked before anything else of the request is read. */
export type Access =
  | SessionAccess
  /** A session of the internal admin organization (docs/reference/identity.md 3.1). */
  | { readonly organization: 'internal admin' }
  /** No session is needed: the operation is open, or checks a signature or the browser's cookie itself. */
  | { readonly open: 'everyone' | 'signature' | 'browser' }

/** The caller, as the session identifies it. */
export interface Caller {
  readonly session: Session
  /** The session's. An operation under /admin names the tenant that it concerns itself. */
  readonly tenant: TenantId
  /** Verified; unverified claims are left out (docs/reference/identity.md 4.2). */
  readonly principal: Principal
  /** The result of the principal chain (docs/reference/identity.md 3.1), unverified claims included. */
  readonly identified: IdentifiedPrincipal
  /** The purpose that the request names; absent for none. */
  readonly purpose?: string
  /** The caller as the record of a change names it. It looks up who made the session, which only such records need. */
  readonly actor: () => Promise<Actor>
}

/**
 * The context of `run` besides its input.
 * @typeParam Parts what the feature was assembled with
 */
export type OperationContext<Parts, A extends Access = Access> = {
  readonly parts: Parts
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
} & (A extends { readonly open: string } ? unknown : { readonly caller: Caller })

/** As {@link OperationContext}, for an operation that reads its request itself. */
export type RawContext<Parts, A extends Access = Access> = OperationContext<Parts, A> & {
  readonly request: Request
  /**
   * Checks access again, because it may have ended while a body arrived slowly.
   * @throws Fault
   */
  readonly again: () => Promise<unknown>
}

/** The declaration of an operation; its implementation is in {@link Operation}. */
export interface Declaration<
  A extends Access = Access,
  I extends TObject = TObject,
  O extends TSchema = TSchema,
> {
  /** snake_case, unique: the OpenAPI operationId. */
  readonly name: string
  /** Group in the OpenAPI document. */
  readonly tag: string
  /** One sentence without a full stop. */
  readonly summary: string
  readonly description?: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `{name}` is one segment; `{name+}` may hold slashes that a client did not encode. */
  readonly path: `/${string}`
  /** Further paths without members at which it is served, for clients that have theirs built in; not in the document. */
  readonly aliases?: readonly `/${string}`[]
  readonly access: A
  /** What its answers tell of tables; shown as `x-gives` in the OpenAPI document. */
  readonly gives: GivesOfTables
  /**
   * Members that the path names come from the path. The others come from the query for GET and DELETE, else from the
   * body.
   */
  readonly input?: I
  /** The response body; absent: the response has none. */
  readonly output?: O
  /** Default: 200 with an output, 204 without. */
  readonly status?: 200 | 201 | 202 | 204 | 302
  /** When a success has no body although there is an output: `run` returned undefined, and the status is 204. */
  readonly withoutBody?: string
  /** Reasons to fail by kind, besides those that follow from `access` and `input`. */
  readonly faults?: Partial<Record<FaultKind, string>>
  /** The body of a 400, where another specification gives it. Default: an ErrorModel. */
  readonly badRequest?: TSchema
  readonly examples?: readonly { readonly input: object; readonly output?: object }[]
  /** Content types of a body that no schema describes. */
  readonly media?: { readonly request?: readonly string[]; readonly response?: readonly string[] }
}

/**
 * An operation.
 * @typeParam Parts what it is assembled with: store, clock and the like
 */
export type Operation<
  Parts = unknown,
  A extends Access = Access,
  I extends TObject = TObject,
  O extends TSchema = TSchema,
> = Declaration<A, I, O> &
  (
    | {
        /** @param input checked against the schema, with times as Dates and 64-bit integers as bigints */
        run(context: OperationContext<Parts, A>, input: Static<I>): Promise<Static<O>>
      }
    | {
        /** Request headers that it reads, by name. */
        readonly headers?: Readonly<
          Record<string, { readonly description: string; readonly required?: true }>
        >
        /** For responses that no schema describes: raw bytes, redirects, cookies. Input and output only document. */
        respond(context: RawContext<Parts, A>): Promise<Response>
      }
  )
