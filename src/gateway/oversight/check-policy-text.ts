/** Checks the text of a policy for its author, without saving it. */

export const problemKinds = ['error', 'hint'] as const

/** The problems of a text, each with its place; none where a put would take it. */
export async function checkPolicyText(definitionCel: string) {
  // Loaded here, because the command line declares this operation and does not wait for the parser of policies.
  const { checkPolicy, checkPolicyToSave } = await import('../../policy/check.ts')
  const errors = new Set(checkPolicy(definitionCel).map(({ offset }) => offset))
  const problems = checkPolicyToSave(definitionCel).map(({ message, offset }) => ({
    kind: errors.has(offset) ? ('error' as const) : ('hint' as const),
    message,
    offset,
    ...placeOf(definitionCel, offset),
  }))
  return { saveable: problems.length === 0, problems }
}

function placeOf(text: string, offset: number) {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
}
