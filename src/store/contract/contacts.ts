/** Reads whom to ask about contracts and tables, from the models of documents. Who may know is the caller's to decide. */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Contacts } from '../../core/whom-to-ask.ts'
import { storableJson, storableText } from '../database/names.ts'
import type { RunQuery } from './versions.ts'

/** The contacts of the versions in force, by contract; those whose document names nobody are left out. */
export async function contactsInForce(
  run: RunQuery,
  tenant: TenantId,
  contracts: readonly string[],
): Promise<ReadonlyMap<string, Contacts>> {
  if (contracts.length === 0) return new Map()
  const rows = await run<{ contract_id: string; contacts: Contacts }>(
    `select contract_id, model -> 'contacts' as contacts from svc.contract_version
     where tenant_id = $1 and contract_id in (select jsonb_array_elements_text($2::text::jsonb))
       and state in ('active', 'deprecated') and model -> 'contacts' is not null`,
    [tenant, JSON.stringify(contracts.map(storableText))],
  )
  return new Map(rows.map(({ contract_id, contacts }) => [contract_id, contacts]))
}

/** A version that names a table, the newest of its contract. */
export interface NamingVersion {
  readonly contract: string
  readonly version: string
  readonly state: string
  readonly contacts: Contacts | undefined
}

/** Contracts that an answer about a table names. */
const namingMax = 3

/** The newest versions of contracts that name a table, whatever their state. */
export async function versionsNaming(
  run: RunQuery,
  tenant: TenantId,
  { namespace, name }: TableRef,
): Promise<readonly NamingVersion[]> {
  const rows = await run<{
    contract_id: string
    version: string
    state: string
    contacts: Contacts | null
  }>(
    `select contract_id, version, state, model -> 'contacts' as contacts from svc.contract_version v
     where tenant_id = $1
       and number = (select max(number) from svc.contract_version
         where tenant_id = v.tenant_id and contract_id = v.contract_id)
       and exists (select from jsonb_array_elements(model -> 'schemas') s where s -> 'table' = $2::text::jsonb)
     order by contract_id limit $3::int`,
    [tenant, storableJson({ namespace, name }), namingMax],
  )
  return rows.map(({ contract_id, version, state, contacts }) => ({
    ...{ contract: contract_id, version, state },
    contacts: contacts ?? undefined,
  }))
}
