/** Commit policies and decisions in the form of the API, in the names of the specification, and their schemas. */

import { auditEntry } from '../../core/audit-entry.ts'
import type { AppliedPolicy } from '../../core/commit.ts'
import { type PolicyOutcome, policyErrorCodes } from '../../core/decision.ts'
import { type DerivedPolicy, type Policy, policyKinds, policyModes } from '../../core/policy.ts'
import { schemaMembers, viewOf } from '../../http/record-view.ts'
import {
  described,
  flag,
  list,
  maybe,
  object,
  oneOf,
  ordinal,
  text,
  time,
  wholeNumber,
} from '../../http/schemas.ts'
import type { AuditRecord } from '../../store/commit/audit.ts'
import type { ListedDecision } from '../../store/commit/decision-list.ts'
import { forWhom } from '../../store/governance/written-values.ts'

const appliedMembers = {
  id: text,
  kind: oneOf(policyKinds),
  mode: oneOf(policyModes),
  definition_cel: text,
}

export const policySchema = object({
  ...appliedMembers,
  enforced_from: maybe(described(time, 'a policy of mode shadow is enforced from this time on')),
  derived: maybe(
    described(
      object({
        contract: text,
        number: described(ordinal, 'of the version'),
        version: described(text, 'as the document says'),
        covered_by: described(list(ordinal), 'approved versions that a commit may put in force'),
      }),
      'the contract that it follows from, which alone changes it',
    ),
  ),
  name: described(text, 'shown to a writer who is denied'),
  message: described(text, 'what the writer should do about a denial'),
})

/** A policy as it stands. */
export function policyView({ definitionCel, enforceFromMs, derived, ...same }: Policy) {
  return {
    ...same,
    definition_cel: definitionCel,
    ...(enforceFromMs !== undefined && { enforced_from: new Date(enforceFromMs) }),
    ...(derived !== undefined && { derived: derivedView(derived) }),
  }
}

function derivedView({ contract, number, version, covering }: DerivedPolicy) {
  return { contract, number, version, covered_by: covering.map((one) => one.number) }
}

function appliedView({ definitionCel, ...policy }: AppliedPolicy) {
  return { ...policy, definition_cel: definitionCel }
}

const decisionMembers = schemaMembers(auditEntry)

const scopeMember = maybe(
  described(
    object({ namespace: maybe(list(text)), tag: maybe(text) }),
    'the namespace or tag through which it governed; absent: the table itself',
  ),
)
const principalSchema = object({ sub: text, email: maybe(text), roles: list(text) })
const outcomesSchema = list(
  object({
    policy_id: text,
    name: text,
    mode: oneOf(policyModes),
    value: maybe(flag),
    error: maybe(oneOf(policyErrorCodes)),
    enforced_from: maybe(described(time, 'a policy of mode shadow is enforced from this time on')),
    grant: maybe(described(text, 'the grant by which the policy only warned')),
    raced: maybe(described(flag, 'of the evaluation after a commit that another one overtook')),
    explanation: maybe(described(text, `the failing part of the policy with its values, ${forWhom}`)),
  }),
)
const { definition_cel: _, ...namedMembers } = appliedMembers

/** A decision of a list; the last three members are there where the request asks for explanations. */
export const listedDecisionSchema = object({
  ...decisionMembers,
  principal: maybe(principalSchema),
  policies: maybe(described(list(object({ ...namedMembers, scope: scopeMember })), 'without their texts')),
  outcomes: maybe(outcomesSchema),
})

export const decisionRecordSchema = object({
  ...decisionMembers,
  principal: principalSchema,
  credential_id: text,
  body_sha256: described(text, 'hex, of the request'),
  policies: described(list(object({ ...appliedMembers, scope: scopeMember })), 'as they stood'),
  outcomes: outcomesSchema,
  received_at_ms: described(wholeNumber, 'milliseconds since 1970, `commit.received_at`'),
})

/** One decision (docs/reference/gateway.md 7.1). */
export const decisionView = viewOf(auditEntry)

/** One decision with everything that is kept of it but the body. @param isShown whether values that were written are */
export function decisionRecordView(record: AuditRecord, isShown: boolean) {
  return {
    ...decisionView(record),
    principal: record.principal,
    credential_id: record.credentialId,
    body_sha256: record.bodySha256,
    policies: record.policies.map(appliedView),
    outcomes: record.outcomes.map((outcome) => outcomeView(outcome, isShown)),
    received_at_ms: record.receivedAtMs,
  }
}

/** A decision of a list, with its explanation where it was loaded. @param isShown as {@link decisionRecordView} */
export function explainedDecisionView(decision: ListedDecision, isShown: boolean) {
  const { explanation } = decision
  return {
    ...decisionView(decision),
    ...(explanation && {
      principal: explanation.principal,
      policies: explanation.policies,
      outcomes: explanation.outcomes.map((outcome) => outcomeView(outcome, isShown)),
    }),
  }
}

function outcomeView({ policyId, enforceFromMs, explanation, ...outcome }: PolicyOutcome, isShown: boolean) {
  return {
    policy_id: policyId,
    ...outcome,
    ...(enforceFromMs !== undefined && { enforced_from: new Date(enforceFromMs) }),
    ...(isShown && explanation !== undefined && { explanation }),
  }
}
