/** Declares the operations on changes that loosen what deployed contracts promise, and wait for a sign-off. */

import { Fault } from '../../base/fault.ts'
import { actorMembers, actorView } from '../../http/actor-view.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  anyObject,
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import { findLoosening, type Loosening, listLoosenings } from '../../store/contract/loosenings.ts'
import { changeOf, contractsPath, operation, overseeing } from '../parts.ts'
import { looseningStates, signLoosening, stateOf } from './sign-loosening.ts'

const tag = 'contracts'
const path = `${contractsPath}/loosenings` as const
const by = object(actorMembers)

const loosening = object({
  id: uuid,
  sha256: described(text, 'of the change, the contracts and the findings: what is signed'),
  state: described(oneOf(looseningStates), '`signed`: the same call passes once'),
  requested_at: time,
  requested_by: by,
  contracts: list(text),
  findings: described(list(text), 'what becomes looser, in words'),
  action: text,
  subject: anyObject,
  value: maybe(anyObject),
  sign_offs: list(object({ level: oneOf(['first', 'second']), at: text, by, comment: maybe(text) })),
  used_at: maybe(time),
  used_by: maybe(by),
})

function looseningView(found: Loosening, nowMs: number) {
  const { id, sha256, contracts, findings, change, requestedAt, requestedBy, signOffs, usedAt, usedBy } =
    found
  return {
    ...{ id, sha256, contracts: [...contracts], findings: [...findings], state: stateOf(found, nowMs) },
    requested_at: requestedAt,
    requested_by: actorView(requestedBy),
    ...{ action: change.action, subject: { ...change.subject } },
    value: change.value && { ...change.value },
    sign_offs: signOffs.map(({ level, at, by: signer, comment }) => {
      return { level, at, by: actorView(signer), comment }
    }),
    used_at: usedAt,
    used_by: usedBy && actorView(usedBy),
  }
}

export const looseningOperations = [
  operation({
    name: 'list_loosenings',
    tag,
    summary: 'Changes that loosen what a contract promises and need a sign-off, newest first',
    method: 'GET',
    path,
    access: overseeing,
    gives: { overseen: ['existence', 'columns'] },
    input: object(pageInput),
    output: pageOf(loosening),
    run: async ({ parts, caller }, page) =>
      pageView(await listLoosenings(parts.store, caller.tenant, pageRequest(page)), (one) =>
        looseningView(one, parts.clock.now()),
      ),
  }),
  operation({
    name: 'get_loosening',
    tag,
    summary: 'A change that needs a sign-off',
    method: 'GET',
    path: `${path}/{id}`,
    access: overseeing,
    gives: { overseen: ['existence', 'columns'] },
    input: object({ id: uuid }),
    output: loosening,
    faults: { not_found: 'There is no such request.' },
    run: async ({ parts, caller }, { id }) => {
      const { store, clock } = parts
      const query = store.tenantTransaction(caller.tenant, (tx) => findLoosening(tx, caller.tenant, id), {
        readOnly: true,
      })
      const found = await query
      if (found === undefined) throw new Fault('not_found', 'There is no such request.')
      return looseningView(found, clock.now())
    },
  }),
  operation({
    name: 'sign_loosening',
    tag,
    summary: 'Signs a change that somebody else asked for',
    description:
      'A steward signs first, and an administrator second where one of the contracts asks for a second approval. Then the call that was refused passes once, within seven days of its request.',
    method: 'POST',
    path: `${path}/{id}/sign-offs`,
    access: { scope: 'admin', roles: ['steward', 'administrator'] },
    gives: { nothing: 'own input' },
    input: object({
      id: uuid,
      sha256: described(nonEmpty, 'of the request that was read'),
      comment: maybe(text),
    }),
    faults: {
      not_found: 'There is no such request.',
      forbidden: 'The caller asked for the change, or lacks the role of the sign-off.',
      conflict: 'The request does not wait, or is another one than was read.',
    },
    run: async (context, { id, ...signed }) =>
      await signLoosening(context.parts, await changeOf(context), id, signed),
  }),
]
