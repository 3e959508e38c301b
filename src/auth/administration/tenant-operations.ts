/**
 * Declares operations on one tenant twice: for the tenant's own people under /api/v1, and for the internal admin
 * organization under /admin/tenants/{tenant}. Both run the same code on the same schemas.
 */

import type { Static, TSchema } from '@sinclair/typebox'
import type { Actor } from '../../core/administration.ts'
import type { Declaration, Operation, SessionAccess } from '../../core/operation.ts'
import type { TenantId } from '../../core/tenant.ts'
import { operationsOf } from '../../http/declare.ts'
import { ownNames } from '../../http/own-names.ts'
import { object, text } from '../../http/schemas.ts'
import { foldsAllNames } from '../../store/catalog-credential/name-case.ts'
import type { Store } from '../../store/store.ts'
import { existingTenant } from './tenants.ts'

type Members = Readonly<Record<string, TSchema>>
type Given<M extends Members> = Static<ReturnType<typeof object<M>>>

/** What the implementation of such an operation gets besides its input. */
export interface TenantContext<Parts> {
  readonly parts: Parts
  /** The tenant that the operation concerns; it exists. */
  readonly tenant: TenantId
  /** As {@link Caller.actor}. */
  readonly actor: () => Promise<Actor>
  /** Whether the operator calls, who owns every tenant. */
  readonly isOperator: boolean
}

/** Who reads what such an operation shows. */
export async function readerOf({
  actor,
  isOperator,
}: Pick<TenantContext<unknown>, 'actor' | 'isOperator'>): Promise<Actor | 'operator'> {
  return isOperator ? 'operator' : await actor()
}

interface TenantDeclaration<Parts, M extends Members, O extends TSchema>
  extends Pick<
    Declaration,
    'tag' | 'summary' | 'description' | 'method' | 'gives' | 'status' | 'faults' | 'examples'
  > {
  /** verb_noun; under /admin it is verb_tenant_noun. */
  readonly name: `${string}_${string}`
  /** Below /api/v1, and below /admin/tenants/{tenant}. */
  readonly path: `/${string}`
  /** Of the tenant's own people. */
  readonly access: SessionAccess
  /** The members of the input. */
  readonly input: M
  readonly output?: O
  run(context: TenantContext<Parts>, input: Given<M>): Promise<Static<O>>
}

/** The members of an example under /admin, besides those of the operation. */
const exampleTenant = { tenant: '5b0f9e4e-6f0a-4e2c-9a54-0d6a3b8e8c11' }

/** What the like of an operation on the own tenant is called under /admin. */
export function tenantNameOf(name: string): string {
  return name.replace('_', '_tenant_')
}

/**
 * Returns a function that declares the pair of an operation.
 * @typeParam Parts what the feature is assembled with
 */
export function tenantOperationsOf<Parts extends { readonly store: Store }>() {
  const operation = operationsOf<Parts>()
  return <const M extends Members, O extends TSchema = TSchema>({
    name,
    path,
    access,
    input,
    examples = [],
    run,
    ...shared
  }: TenantDeclaration<Parts, M, O>): readonly Operation<Parts>[] => {
    const members = object(input)
    const own = operation({
      ...shared,
      name,
      path: `/api/v1${path}`,
      access,
      input: members,
      examples,
      run: ({ parts, caller }, given) =>
        run({ parts, tenant: caller.tenant, actor: caller.actor, isOperator: false }, given as Given<M>),
    })
    const admin = operation({
      ...shared,
      name: tenantNameOf(name),
      path: `/admin/tenants/{tenant}${path}`,
      access: { organization: 'internal admin' },
      input: object({ ...input, tenant: text }),
      faults: { not_found: 'There is no such tenant.', ...shared.faults },
      examples: examples.map((one) => ({ ...one, input: { ...exampleTenant, ...one.input } })),
      run: async ({ parts, caller }, given) => {
        const { tenant, ...rest } = given as unknown as { readonly tenant: string }
        const existing = await existingTenant(parts.store, tenant)
        const named = await ownNames(members, rest, () => foldsAllNames(parts.store, existing))
        return await run(
          { parts, tenant: existing, actor: caller.actor, isOperator: true },
          named as Given<M>,
        )
      },
    })
    return [own, admin]
  }
}
