/**
 * Assigns metadata files to the commits that may have written them. Pure: it knows neither tables nor times, only which
 * commit may have written which file. It names only what is the same in every assignment that fits the evidence.
 *
 * Rules: a commit wrote one file at most, and a file has one writer at most. A commit that was surely made wrote one of
 * its files. A file that is wholly the change of a commit was written by such a commit. Any other file may have been
 * written past the gateway.
 */

/** `whole`: the file is the change of this commit and nothing else; `maybe`: nothing excludes it. */
export type Fit = 'whole' | 'maybe'

export interface FileClaim {
  readonly id: string
  /** Claims with the same key differ in nothing that a file or a row could show. */
  readonly twin: string
  /** By index of the file. Files that are not named are excluded. */
  readonly files: ReadonlyMap<number, Fit>
  /** Whether it surely wrote one of these files. */
  readonly isMade: boolean
}

interface Assignment {
  /** The index of the file of each claim that is certain, by id. Of twins, the first claims get the first files. */
  readonly files: ReadonlyMap<string, number>
  /** Ids of claims that wrote none of the files, in every assignment. */
  readonly none: ReadonlySet<string>
  /** Ids of twins of which not all are certain: which of them wrote a file is not to be told from the files. */
  readonly mixed: ReadonlySet<string>
}

/** A part with more possible pairs is left undecided, because deciding it could take seconds. */
const pairsMax = 900

interface Node {
  readonly claim: FileClaim
  files: Set<number>
}

/** @param claims in the order in which twins are to be named */
export function assignFiles(claims: readonly FileClaim[]): Assignment {
  const wholes = new Set(
    claims.flatMap(({ files }) => [...files].filter(([, fit]) => fit === 'whole').map(([file]) => file)),
  )
  const nodes = claims.map((claim): Node => {
    const fits = [...claim.files].filter(([file, fit]) => fit === 'whole' || !wholes.has(file))
    return { claim, files: new Set(fits.map(([file]) => file)) }
  })
  const files = new Map<string, number>()
  const none = new Set<string>()
  const mixed = new Set<string>()
  for (const part of partsOf(nodes)) {
    const known = decidePart(part, wholes)
    for (const [id, file] of known.files) files.set(id, file)
    for (const id of known.none) none.add(id)
    for (const id of known.mixed) mixed.add(id)
  }
  return { files, none, mixed }
}

/** Splits claims into groups that share no file. A contradiction in one leaves the others decidable. */
function partsOf(nodes: readonly Node[]): readonly (readonly Node[])[] {
  const parts: Node[][] = []
  const left = new Set(nodes)
  for (const first of nodes) {
    if (!left.delete(first)) continue
    const part = [first]
    const reached = new Set(first.files)
    for (let grew = true; grew; ) {
      grew = false
      for (const node of left) {
        if (node.files.isDisjointFrom(reached)) continue
        left.delete(node)
        part.push(node)
        for (const file of node.files) reached.add(file)
        grew = true
      }
    }
    parts.push(nodes.filter((node) => part.includes(node)))
  }
  return parts
}

function decidePart(part: readonly Node[], wholes: ReadonlySet<number>): Assignment {
  const all = [...new Set(part.flatMap(({ files }) => [...files]))].sort((a, b) => a - b)
  const needed = all.filter((file) => wholes.has(file))
  const made = part.filter(({ claim }) => claim.isMade)
  /** Whether some assignment is left without the edges that are forbidden. */
  const fits = (allowed: (node: Node, file: number) => boolean): boolean =>
    // By the theorem of Mendelsohn and Dulmage, a matching that covers both exists where one for each does.
    covers(made, (node) => [...node.files].filter((file) => allowed(node, file))) &&
    covers(needed, (file) => part.filter((node) => node.files.has(file) && allowed(node, file)))
  const files = new Map<string, number>()
  const none = new Set<string>()
  const mixed = new Set<string>()
  const pairs = part.reduce((sum, node) => sum + node.files.size, 0)
  if (pairs > pairsMax || !fits(() => true)) return { files, none, mixed }
  for (const twins of Map.groupBy(part, ({ claim }) => claim.twin).values()) {
    const isTwin = new Set(twins)
    const certain = all.filter(
      (file) =>
        twins.some((node) => node.files.has(file)) &&
        !fits((node, other) => other !== file || !isTwin.has(node)),
    )
    const rest = new Set(certain)
    // One that was surely made is named before one that may not have been.
    // One with fewer files to choose from comes first, so that none of the certain files is left over.
    const ordered = [true, false].flatMap((isMade) =>
      twins.filter(({ claim }) => claim.isMade === isMade).sort((a, b) => a.files.size - b.files.size),
    )
    for (const { claim, files: own } of ordered) {
      const file = [...own].sort((a, b) => a - b).find((one) => rest.delete(one))
      if (file !== undefined) files.set(claim.id, file)
    }
    const left = twins.filter(({ claim }) => !files.has(claim.id))
    if (twins.length > 1 && certain.length > 0 && left.length > 0)
      for (const { claim } of twins) mixed.add(claim.id)
    for (const node of left) {
      if (node.claim.isMade) continue
      const may = [...node.files].filter((file) => !certain.includes(file))
      const isPossible = may.some((file) =>
        fits((other, at) => (at === file ? other === node : other !== node)),
      )
      if (!isPossible) none.add(node.claim.id)
    }
  }
  return { files, none, mixed }
}

/** Whether each of these can have one partner of its own (Kuhn's algorithm). */
function covers<A, B>(these: readonly A[], partnersOf: (one: A) => readonly B[]): boolean {
  const taken = new Map<B, A>()
  const place = (one: A, seen: Set<B>): boolean => {
    for (const partner of partnersOf(one)) {
      if (seen.has(partner)) continue
      seen.add(partner)
      const other = taken.get(partner)
      if (other !== undefined && !place(other, seen)) continue
      taken.set(partner, one)
      return true
    }
    return false
  }
  return these.every((one) => place(one, new Set()))
}
