/** Signs plans. The key is derived from the secrets key, so that all replicas sign alike and nothing more is stored. */

import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { hkdf } from '../transform/derive-keys.ts'
import { planType } from '../transform/open-plan.ts'
import type { TransformPlan } from '../transform/plan.ts'
import { type SubjectKeysAnswer, subjectKeysType } from '../transform/subject-keys.ts'

export interface PlanSigner {
  /** Public, as the key set shows it. */
  readonly jwk: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly kid: string; readonly x: string }
  sign(plan: TransformPlan): string
  signSubjectKeys(answer: SubjectKeysAnswer): string
}

/** The signer of a service. */
export function planSigner(secretsKey: Uint8Array): PlanSigner {
  const seed = hkdf(secretsKey, Buffer.alloc(0), 'covenant/1|plan-signing', 32)
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
