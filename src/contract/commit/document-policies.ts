/** The CEL policies that a document itself holds, as rules of a table. */

import type { ContractModel, ModelPolicy, ModelSchema } from '../../wire/odcs/model.ts'
import type { DerivedRule } from './derive-policies.ts'

/** The rules of the document and of one of its objects. */
export function documentRules(
  { policies: ofDocument = [] }: ContractModel,
  { policies: ofObject = [] }: ModelSchema,
): readonly DerivedRule[] {
  return [
    ...ofDocument.map((policy) => ruleOf(`document-policy:${policy.id}`, policy)),
    ...ofObject.map((policy) => ruleOf(`policy:${policy.id}`, policy)),
  ]
}

function ruleOf(clause: string, { id, kind, mode, name, message, definitionCel }: ModelPolicy): DerivedRule {
  return {
    ...{ clause, kind, mode: mode ?? 'enforce', message: message ?? '', definitionCel },
    written: { name: name ?? id, hasMode: mode !== undefined },
  }
}
