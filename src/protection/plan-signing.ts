/**
 * Signs plans. The keys are derived from the roots of plans, so that all replicas sign alike and nothing more is stored.
 */

import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { countingRoots, makingRoot } from '../store/keys/plan-roots.ts'
import type { Store } from '../store/store.ts'
import { hkdf } from '../transform/derive-keys.ts'
import { planType } from '../transform/open-plan.ts'
import type { TransformPlan } from '../transform/plan.ts'
import { type SubjectKeysAnswer, subjectKeysType } from '../transform/subject-keys.ts'

interface PlanSigner {
  /** Public, as the key set shows it. */
  readonly jwk: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly kid: string; readonly x: string }
  sign(plan: TransformPlan): string
  signSubjectKeys(answer: SubjectKeysAnswer): string
}

/** The signers of a service, by the roots that it has read. */
export interface PlanSigners {
  /** The one that signs now. */
  readonly present: () => PlanSigner
  /** Every one whose signatures count, the present one first; also one that is to sign soon. */
  readonly all: () => readonly PlanSigner[]
}

/** The signers over a store, each made once. */
export function planSigners({ roots }: Pick<Store, 'roots'>, clock: Clock): PlanSigners {
  const made = new WeakMap<Uint8Array, PlanSigner>()
  const signerOf = (root: Uint8Array): PlanSigner => {
    const known = made.get(root) ?? planSigner(root)
    made.set(root, known)
    return known
  }
  return {
    present: () => signerOf(makingRoot(roots, clock.now())),
    all: () => countingRoots(roots, clock.now()).map(signerOf),
  }
}

/** The signer of a root. @param root 32 bytes */
export function planSigner(root: Uint8Array): PlanSigner {
  const seed = hkdf(root, Buffer.alloc(0), 'covenant/1|plan-signing', 32)
  // PKCS #8 of RFC 8410: a fixed prefix, then the seed.
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const key: KeyObject = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const x = createPublicKey(key).export({ format: 'jwk' }).x ?? ''
  const kid = createHash('sha256').update(x).digest('base64url').slice(0, 16)
  const signed = (typ: string, payload: object) => {
    const [header, body] = [{ alg: 'EdDSA', kid, typ }, payload].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    )
    const text = `${header}.${body}`
    return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`
  }
  return {
    jwk: { kty: 'OKP', crv: 'Ed25519', kid, x },
    sign: (plan) => signed(planType, plan),
    signSubjectKeys: (answer) => signed(subjectKeysType, answer),
  }
}
