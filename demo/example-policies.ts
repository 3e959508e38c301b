/** Reads the example policies of docs/policies.md, so that the demo shows what the page shows. */

import type { Policy, PolicyKind } from '../src/core/policy.ts'
import { policyKinds } from '../src/core/policy.ts'

const page = new URL('../docs/policies.md', import.meta.url)

/**
 * One example as an enforced policy with the example's id and name.
 * @param message tells a denied writer what to do
 * @throws Error when the page has no such example
 */
export async function examplePolicy(id: string, message: string): Promise<Policy> {
  const text = await Bun.file(page).text()
  const [, kind, definitionCel] =
    new RegExp(`^### ${id} \\((\\w+)\\)\\n\\n\`\`\`cel\\n(.*?)\\n\`\`\``, 'ms').exec(text) ?? []
  const known = policyKinds.find((one): one is PolicyKind => one === kind)
  if (known === undefined || definitionCel === undefined)
    throw new Error(`docs/policies.md has no example ${id}`)
  return { id, kind: known, mode: 'enforce', name: id, message, definitionCel }
}
