/** Versions of contracts for tests of the store. */

import type { NewVersion } from '../../src/store/contract/versions.ts'
import { actorOf } from './actor.ts'

/** A version that is in force, with a document of nothing but its names. */
export function versionOf(contract: string, changes: Partial<NewVersion> = {}): NewVersion {
  const body = new TextEncoder().encode(`id: ${contract}\n`)
  return {
    contract,
    format: 'yaml',
    body,
    sha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
    model: {
      apiVersion: 'v3.2.0',
      id: contract,
      version: '1.0.0',
      compatibility: 'backward',
      secondApproval: false,
      schemas: [],
      sla: [],
    },
    state: 'active',
    unverified: true,
    by: actorOf('stella'),
    ...changes,
  }
}
