/** Asks a running service about contracts, and has it change them. Shapes are those of the operations. */

import { Fault } from '../../base/fault.ts'
import { documentOperations } from '../../contract/document/operations.ts'
import { gitOperations } from '../../contract/git/operations.ts'
import { lifeCycleOperations } from '../../contract/lifecycle/operations.ts'
import type { Operation } from '../../core/operation.ts'
import type { DocumentFormat } from '../../wire/odcs/read-document.ts'
import { findsOperation } from '../find-operation.ts'
import { openHttpClient } from '../http-client.ts'
import type { ServiceAddress } from '../service-address.ts'

export interface ListedVersion {
  readonly number: number
  readonly version: string
  readonly sha256: string
  readonly state: string
  readonly author: string
  readonly created_at: string
  readonly managed_by?: string
}

export interface ListedContract {
  readonly id: string
  readonly revision?: string
  readonly managed_by?: string
  readonly versions: readonly ListedVersion[]
  readonly tables: readonly object[]
  readonly outside_changes: readonly string[]
}

export interface Finding {
  readonly at: string
  readonly consumer: string
  readonly producer: string
  readonly access: string
  readonly message: string
}

export interface Comparison {
  readonly breaking: boolean
  readonly loosens_access: boolean
  readonly step_needed: string
  readonly findings: readonly Finding[]
  readonly breaks: readonly { readonly name: string; readonly contact?: string }[]
  readonly waits_for: readonly string[]
  /** What happens to commits that break it; absent from services of an earlier version. */
  readonly commits?: readonly {
    readonly table: { readonly namespace: readonly string[]; readonly name: string }
    readonly mode: string
    readonly enforced_from?: string
    readonly enforced_after_days?: number
  }[]
  /** Absent from services of an earlier version. */
  readonly warnings?: readonly string[]
  readonly problem?: string
}

export interface ShownVersion extends ListedVersion {
  readonly id: string
  readonly waits_for: readonly string[]
}

/** A version with what was found of it when it was proposed. */
export interface SignedVersion extends ShownVersion {
  readonly verdict?: { readonly breaking: boolean; readonly findings: readonly Finding[] }
  readonly read_by?: readonly {
    readonly sub: string
    readonly queries: number
    readonly last_read_at: string
  }[]
  readonly warnings?: readonly string[]
  readonly sign_offs: readonly { readonly level: string; readonly by: string; readonly at: string }[]
}

export interface Proposals {
  readonly managed_by: string
  readonly documents: readonly {
    readonly id: string
    readonly revision: string | undefined
    readonly format: DocumentFormat
    readonly document: string
    readonly sha256: string
  }[]
  readonly deprecate: readonly {
    readonly id: string
    readonly revision: string | undefined
    readonly reason: string
  }[]
}

export interface ContractService {
  /** All contracts, page by page. */
  list(): Promise<readonly ListedContract[]>
  /** The document in force, in the format that it was sent in. */
  document(id: string): Promise<{ readonly bytes: Uint8Array; readonly format: DocumentFormat }>
  compare(id: string, bytes: Uint8Array, format: DocumentFormat): Promise<Comparison>
  propose(proposals: Proposals): Promise<readonly ShownVersion[]>
  version(id: string, number: number): Promise<SignedVersion>
  /** The document of a version, in the format that it was sent in. */
  versionDocument(id: string, number: number): ReturnType<ContractService['document']>
  sign(
    id: string,
    number: number,
    what: { readonly sha256: string; readonly comment?: string },
  ): Promise<SignedVersion>
  deploy(id: string, number: number): Promise<ShownVersion>
}

/** Milliseconds for one request; hundreds of documents are proposed by one. */
const requestMs = 180_000

const named = findsOperation([
  ...documentOperations,
  ...lifeCycleOperations,
  ...gitOperations,
] as readonly Operation[])

/** The service at an address. Every request ends when `signal` aborts. */
export function openContractService(address: ServiceAddress, signal: AbortSignal): ContractService {
  const client = openHttpClient(address, { named, signal, requestMs })
  const typeOf = (format: DocumentFormat) => `application/${format}`
  return {
    async list() {
      const items: ListedContract[] = []
      let token: string | undefined
      do {
        const page = (await client.run('list_contract_documents', {
          limit: 200,
          page_token: token,
        })) as { readonly items: readonly ListedContract[]; readonly next_page_token?: string }
        items.push(...page.items)
        token = page.next_page_token
      } while (token !== undefined)
      return items
    },
    async document(id) {
      return documentIn(await client.exchange('get_contract_document', { id }, {}))
    },
    async versionDocument(id, number) {
      return documentIn(await client.exchange('get_contract_version_document', { id, number }, {}))
    },
    sign: async (id, number, what) =>
      (await client.run('sign_contract_version', { id, number, ...what })) as SignedVersion,
    async compare(id, body, format) {
      const { bytes } = await client.exchange(
        'compare_contract_document',
        { id },
        { body, type: typeOf(format) },
      )
      return JSON.parse(new TextDecoder().decode(bytes)) as Comparison
    },
    async propose(proposals) {
      const answer = await client.run('propose_contract_documents', { ...proposals })
      return (answer as { readonly versions: readonly ShownVersion[] }).versions
    },
    version: async (id, number) =>
      (await client.run('get_contract_version', { id, number })) as SignedVersion,
    deploy: async (id, number) =>
      (await client.run('move_contract_version', { id, number, move: 'deploy' })) as ShownVersion,
  }
}

function documentIn({ bytes, type }: { readonly bytes: Uint8Array; readonly type: string }) {
  return { bytes, format: type.startsWith('application/json') ? ('json' as const) : ('yaml' as const) }
}

/** Whether the service has no such thing. */
export function isNotFound(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.kind === 'not_found'
}
