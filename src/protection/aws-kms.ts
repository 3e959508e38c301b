/**
 * Wraps the keys of tenants by a key of AWS KMS, which never leaves it. The tenant is part of the encryption context, so
 * that one tenant's key does not open as another's. Credentials are the operator's own, from the environment.
 */

import type { KMSClient } from '@aws-sdk/client-kms'
import { Fault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import type { KeyProvider } from './tenant-keys.ts'

const timeoutMs = 5_000

/**
 * The provider for a key.
 *
 * @param keyArn of a key or alias; its region is the client's
 * @param open makes the client; tests give another
 */
export function awsKmsProvider(
  keyArn: string,
  open: () => Promise<KMSClient> = () => openClient(keyArn),
): KeyProvider {
  let opened: Promise<KMSClient> | undefined
  const client = () => {
    opened ??= open()
    return opened
  }
  const contextOf = (tenant: TenantId) => ({ service: 'covenant', purpose: 'transform', tenant })
  return {
    name: 'aws-kms',
    async wrap(tenant, key) {
      const { EncryptCommand } = await import('@aws-sdk/client-kms')
      const command = new EncryptCommand({
        KeyId: keyArn,
        Plaintext: key,
        EncryptionContext: contextOf(tenant),
      })
      const { CiphertextBlob } = await answered(async () => (await client()).send(command, withTimeout()))
      if (CiphertextBlob === undefined) throw unavailable()
      return CiphertextBlob
    },
    async unwrap(tenant, wrapped) {
      const { DecryptCommand } = await import('@aws-sdk/client-kms')
      const command = new DecryptCommand({
        KeyId: keyArn,
        CiphertextBlob: wrapped,
        EncryptionContext: contextOf(tenant),
      })
      const { Plaintext } = await answered(async () => (await client()).send(command, withTimeout()))
      if (Plaintext === undefined) throw unavailable()
      return Plaintext
    },
  }
}

/** The SDK is loaded only where a key is set. */
async function openClient(keyArn: string): Promise<KMSClient> {
  const { KMSClient } = await import('@aws-sdk/client-kms')
  const region = keyArn.split(':')[3]
  return new KMSClient({ ...(region !== undefined && { region }), maxAttempts: 2 })
}

function withTimeout() {
  return { abortSignal: AbortSignal.timeout(timeoutMs) }
}

async function answered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    throw unavailable(cause)
  }
}

function unavailable(cause?: unknown): Fault {
  return new Fault(
    'unavailable',
    'The key management service did not give the key of the transform. Retry.',
    { cause },
  )
}
