/** Names the columns that a Cypher query returns. The query itself is checked in cypher.ts. */

const token = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_]*|[^\s]/g
const isName = (text: string | undefined) => text !== undefined && /^[A-Za-z_]/.test(text)

/**
 * One name for each item after RETURN: its alias, else its last name (`t.name` is `name`), else its position.
 * @param text a query that `checkCypher` accepts
 * @returns distinct names that `cypher` accepts, at least one
 */
export function returnColumns(text: string): readonly string[] {
  const tokens = [...text.matchAll(token)].map(([part]) => part)
  const keyword = (index: number, word: string) =>
    tokens[index]?.toLowerCase() === word && tokens[index - 1] !== '.' && tokens[index - 1] !== ':'
  const start = tokens.findIndex((_, index) => keyword(index, 'return')) + 1
  const items: string[][] = [[]]
  let depth = 0
  for (let index = start; index < tokens.length; index++) {
    const part = tokens[index] ?? ''
    if (depth === 0 && ['order', 'skip', 'limit'].some((word) => keyword(index, word))) break
    if ('([{'.includes(part)) depth++
    if (')]}'.includes(part)) depth--
    if (part === ',' && depth === 0) items.push([])
    else if (!(index === start && part.toLowerCase() === 'distinct')) items.at(-1)?.push(part)
  }
  const names: string[] = []
  for (const item of items) {
    const name = nameOf(item)?.toLowerCase()
    const usable = name !== undefined && name.length <= 63 && !names.includes(name)
    names.push(usable ? name : freeName(names))
  }
  return names
}

function freeName(taken: readonly string[]): string {
  for (let number = taken.length + 1; ; number++)
    if (!taken.includes(`column_${number}`)) return `column_${number}`
}

function nameOf(item: readonly string[]): string | undefined {
  const last = item.at(-1)
  if (!isName(last)) return undefined
  const before = item.at(-2)
  return before === undefined || before === '.' || before.toLowerCase() === 'as' ? last : undefined
}
