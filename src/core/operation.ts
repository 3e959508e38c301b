/**
 * What an operation of our own API says of itself, once: its route, its validation, the OpenAPI document and later its
 * MCP tool are derived from that. Types only; `http/declare.ts` infers them, and `server/rest` serves them.
 */

import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { FaultKind } from '../base/fault.ts'
import type { Capability } from './capability.ts'
import type { IdentifiedPrincipal, Principal, PrivilegedRole } from './principal.ts'
import type { Session, SessionScope } from './session.ts'
import type { TenantId } from './tenant.ts'

/** A session with this scope, whose verified principal has one of the roles, where a license opens the capability. */
export interface SessionAccess {
  readonly scope: SessionScope
  /** One of them is enough; none are needed where absent. */
  readonly roles?: readonly PrivilegedRole[]
  readonly capability?: Capability
}

/** Who may call an operation; checked before anything of the request is read. */
export type Access =
  | SessionAccess
  /** A session of the internal admin organization (docs/reference/identity.md 3.1). */
  | { readonly organization: 'internal admin' }
  /** No session is asked for: the operation is open, or checks a signature or the browser's cookie itself. */
  | { readonly open: 'everyone' | 'signature' | 'browser' }

/** Who calls, as far as a session says it. */
export interface Caller {
  readonly session: Session
  readonly tenant: TenantId
  /** Verified; unverified claims are left out (docs/reference/identity.md 4.2). */
  readonly principal: Principal
  /** What the principal chain of docs/reference/identity.md 3.1 found, unverified claims included. */
  readonly identified: IdentifiedPrincipal
}

/** What `run` gets besides its input. @typeParam Parts what the feature was assembled with */
export type OperationContext<Parts, A extends Access = Access> = {
  readonly parts: Parts
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
} & (A extends SessionAccess ? { readonly caller: Caller } : unknown)

/** As {@link OperationContext}, for an operation that reads its request itself. */
export type RawContext<Parts, A extends Access = Access> = OperationContext<Parts, A> & {
  readonly request: Request
  /** Checks access once more: it may have ended while a body came slowly. @throws Fault */
  readonly again: () => Promise<unknown>
}

/** All that an operation says of itself; what it does is in {@link Operation}. */
export interface Declaration<
  A extends Access = Access,
  I extends TObject = TObject,
  O extends TSchema = TSchema,
> {
  /** snake_case, unique: the OpenAPI operationId, later the name of its MCP tool. */
  readonly name: string
  /** Group in the OpenAPI document. */
  readonly tag: string
  /** One sentence without a full stop. */
  readonly summary: string
  readonly description?: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `{name}` is one segment; `{name+}` may hold slashes that a client did not encode. */
  readonly path: `/${string}`
  readonly access: A
  /**
   * Members that the path names come from there, the others of a GET or DELETE from the query, those of any other
   * method from the body.
   */
  readonly input?: I
  /** Body of the answer; it has none where absent. */
  readonly output?: O
  /** 200 with an output and 204 without where absent. */
  readonly status?: 200 | 201 | 202 | 204 | 302
  /** Why it may fail, by kind, besides what follows from `access` and `input`. */
  readonly faults?: Partial<Record<FaultKind, string>>
  readonly examples?: readonly { readonly input: object; readonly output?: object }[]
  /** Offered to AI agents as a tool. Default: not. */
  readonly mcp?: true
}

/** An operation. @typeParam Parts what it is assembled with: store, clock and the like */
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
        /** Headers that it reads, by name. */
        readonly headers?: Readonly<
          Record<string, { readonly description: string; readonly required?: true }>
        >
        /** For what no schema says: raw bytes, redirects, cookies. Input and output only describe. */
        answer(context: RawContext<Parts, A>): Promise<Response>
      }
  )
