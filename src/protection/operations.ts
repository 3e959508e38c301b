/** Declares the operations of the writer-side transform: plans, their key set, rules and the rotation of scopes. */

import { Fault } from '../base/fault.ts'
import { maskActions } from '../core/mask.ts'
import type { OperationContext, SessionAccess } from '../core/operation.ts'
import type { TransformRule } from '../core/transform-rule.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import {
  addressed,
  described,
  flag,
  int64,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  sentTableAddress,
  tableAddress,
  tableIdentifier,
  text,
  wholeNumber,
} from '../http/schemas.ts'
import { listRules } from '../store/transform/rules.ts'
import { alphabets, keyMethods } from '../transform/plan.ts'
import { deleteRule, putRule, rotateScope } from './change-rules.ts'
import { issuePlan } from './issue-plan.ts'
import { changing, operation, overseeing, type ProtectionParts, writing } from './parts.ts'

const tag = 'transform'
const rulesPath = '/api/v1/transform/rules'
const ofColumn = { ...tableAddress, column: text }
const columnPath = `${rulesPath}/columns/{namespace}/{table}/{column}` as const
const tagPath = `${rulesPath}/tags/{tag}` as const
const named = { ...nonEmpty, maxLength: 128, pattern: '^[A-Za-z0-9_.:-]+$' }

const rule = {
  action: oneOf(['mask', 'redact', 'tokenize', 'encrypt']),
  mask: maybe(
    described(oneOf(maskActions), 'with mask; absent: the strictest mask of a reader without roles'),
  ),
  method: maybe(described(oneOf(keyMethods), 'hmac or ff1 with tokenize, siv or gcm with encrypt')),
  scope: maybe(described(text, 'within which equal values have equal tokens; absent: the tag')),
  alphabet: maybe(described(oneOf(Object.keys(alphabets)), 'with ff1')),
  subject_key_of: maybe(
    described(
      nonEmpty,
      'with encrypt: the column that names the subject whose key a value is encrypted under',
    ),
  ),
  subject_kind: maybe(
    described(text, 'equal values of one kind are one subject in all tables; absent: the name of the column'),
  ),
}
const unsigned = {
  not_found: 'There is no such rule.',
  conflict:
    'A contract with a life cycle governs a table that it concerns, and nobody has signed the removal.',
}
const refusals = {
  not_found: 'There is no such column.',
  unprocessable: 'A table that it concerns could not be protected so.',
  upstream_failed: 'The catalog of a table that it concerns did not answer.',
  conflict: 'It would replace a rule of a table under a contract with a life cycle, and nobody has signed.',
}

function ruleOf(
  input: { readonly [K in keyof TransformRule]?: TransformRule[K] | undefined },
): TransformRule {
  const { action, mask, method, scope, alphabet, subject_key_of: of, subject_kind: kind } = input
  return {
    action: action ?? 'redact',
    ...(mask !== undefined && { mask }),
    ...(method !== undefined && { method }),
    ...(scope !== undefined && { scope }),
    ...(alphabet !== undefined && { alphabet }),
    ...(of !== undefined && { subject_key_of: of }),
    ...(kind !== undefined && { subject_kind: kind }),
  }
}

async function changeOf({
  parts,
  caller,
  signal,
}: Pick<OperationContext<ProtectionParts, SessionAccess>, 'parts' | 'caller' | 'signal'>) {
  const { store, states } = parts
  return { store, states, signal, tenant: caller.tenant, actor: await caller.actor() }
}

async function orNotFound(removing: Promise<boolean>): Promise<void> {
  if (!(await removing)) throw new Fault('not_found', 'There is no such rule.')
}

export const protectionOperations = [
  operation({
    name: 'get_transform_plan',
    tag,
    summary: 'The signed plan by which a writer protects a table, with the keys that it needs',
    description:
      'The plan is a JWS for ten minutes. Its format is in docs/reference/transform.md. A library of the service asks for it.',
    method: 'GET',
    path: '/api/v1/tables/{namespace}/{table}/transform-plan',
    access: writing,
    gives: { visible: ['existence', 'columns'] },
    input: object({
      ...sentTableAddress,
      catalog: maybe(described(nonEmpty, 'needed where the tenant has several')),
      schema_id: maybe(described(int64, 'default: the current schema')),
      public_key: maybe(
        described(
          { ...text, pattern: '^[A-Za-z0-9_-]{43}$' },
          'X25519, base64url, for one request; absent: the plan has no keys',
        ),
      ),
      all_keys: maybe(
        described(flag, 'true: also the keys of earlier versions of the scopes, to protect older rows again'),
      ),
    }),
    output: object({ plan: described(text, 'compact JWS') }),
    faults: {
      not_found: 'There is no such table, catalog or schema.',
      unprocessable: 'A column cannot be protected as it is declared.',
      upstream_failed: 'The catalog did not answer.',
    },
    run: async (
      { parts, caller, signal },
      { catalog, schema_id: schemaId, public_key: publicKey, all_keys: allKeys, ...input },
    ) => ({
      plan: await issuePlan(
        parts,
        caller.tenant,
        addressed(input),
        { catalog, schemaId, publicKey, allKeys },
        signal,
      ),
    }),
  }),
  operation({
    name: 'get_key_set',
    tag,
    summary: 'The public keys by which plans are verified (RFC 7517)',
    method: 'GET',
    path: '/.well-known/jwks.json',
    access: { open: 'everyone' },
    gives: { nothing: 'service' },
    output: object({
      keys: list(object({ kty: text, crv: text, kid: text, x: text, alg: text, use: text })),
    }),
    run: async ({ parts }) => ({
      keys: parts.signers.all().map(({ jwk }) => ({ ...jwk, alg: 'EdDSA', use: 'sig' })),
    }),
  }),
  operation({
    name: 'list_transform_rules',
    tag,
    summary: 'What is done to columns and tags before they are written',
    method: 'GET',
    path: rulesPath,
    access: overseeing,
    gives: { overseen: ['existence', 'columns'] },
    input: object(pageInput),
    output: pageOf(
      object({
        tag: maybe(text),
        table: maybe(tableIdentifier),
        field_id: maybe(wholeNumber),
        ...rule,
      }),
    ),
    run: async ({ parts, caller }, page) =>
      pageView(
        await listRules(parts.store, caller.tenant, pageRequest(page)),
        ({ rule: declared, fieldId, ...place }) => ({
          ...place,
          ...(fieldId !== undefined && { field_id: fieldId }),
          ...(declared as TransformRule & {
            mask?: (typeof maskActions)[number]
            method?: (typeof keyMethods)[number]
          }),
        }),
      ),
  }),
  operation({
    name: 'put_column_transform_rule',
    tag,
    summary: 'Declares what is done to a column before it is written, above what its tags say',
    method: 'PUT',
    path: columnPath,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({ ...ofColumn, ...rule }),
    faults: refusals,
    run: async (context, input) =>
      await putRule(
        await changeOf(context),
        { table: addressed(input), column: input.column },
        ruleOf(input),
      ),
  }),
  operation({
    name: 'delete_column_transform_rule',
    tag,
    summary: 'Removes the rule of a column: from the next plan on, its tags decide',
    method: 'DELETE',
    path: columnPath,
    access: changing,
    gives: { nothing: 'own input' },
    input: object(ofColumn),
    faults: unsigned,
    run: async (context, input) =>
      await orNotFound(
        deleteRule(await changeOf(context), { table: addressed(input), column: input.column }),
      ),
  }),
  operation({
    name: 'put_tag_transform_rule',
    tag,
    summary: 'Declares what is done to every column with a tag before it is written',
    method: 'PUT',
    path: tagPath,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({ tag: named, ...rule }),
    faults: refusals,
    examples: [{ input: { tag: 'sensitive.email', action: 'tokenize', method: 'hmac' } }],
    run: async (context, { tag: on, ...input }) =>
      await putRule(await changeOf(context), { tag: on }, ruleOf(input)),
  }),
  operation({
    name: 'delete_tag_transform_rule',
    tag,
    summary: 'Removes the rule of a tag: its columns are written in clear from the next plan on',
    method: 'DELETE',
    path: tagPath,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({ tag: named }),
    faults: unsigned,
    run: async (context, { tag: on }) => await orNotFound(deleteRule(await changeOf(context), { tag: on })),
  }),
  operation({
    name: 'rotate_transform_scope',
    tag,
    summary: 'Begins a new key of a scope: tokens change from the next plan on',
    method: 'POST',
    path: '/api/v1/transform/scopes/{scope}/rotations',
    access: changing,
    gives: { nothing: 'administration' },
    input: object({ scope: named }),
    output: object({ kid: text }),
    run: async (context, { scope }) => ({ kid: await rotateScope(await changeOf(context), scope) }),
  }),
]
