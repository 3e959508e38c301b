/**
 * Where this repository names images of containers: Dockerfiles, Compose, workflows and the values of the chart. It
 * reads and rewrites text, and asks no registry.
 */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

export interface Reference {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** As it stands there. */
  readonly text: string
  /** Name and tag. */
  readonly image: string
  readonly digest: string | undefined
}

const foreign = /^(node_modules|dist|\.git|\.cache)$/
const described = '**/{Dockerfile*,*.Dockerfile,*.yml,*.yaml}'

/** Files that may name images, anywhere below `root` but in what is installed or generated. */
export function filesWithImages(root: string): readonly string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => !foreign.test(entry.name))
    .flatMap((entry) => {
      if (!entry.isDirectory()) return new Glob(described).match(entry.name) ? [entry.name] : []
      const found = new Glob(described).scanSync({ cwd: join(root, entry.name), dot: true })
      return [...found].map((path) => `${entry.name}/${path}`)
    })
    .filter((path) => !/(^|\/)(node_modules|fixtures)\//.test(path))
    .sort()
}

const inDockerfile = [
  /^\s*FROM\s+(?:--\S+\s+)*(?<image>\S+)/i,
  /^\s*(?:COPY|ADD)\s.*--from=(?<image>\S+)/i,
  /--mount=\S*\bfrom=(?<image>[^\s,]+)/i,
]
/** A template of Helm is no name: its values are read instead. */
const inYaml = [
  /(?:^|[\s{])["']?(?:image|container)["']?:[ \t]+["']?(?<image>[^\s"'{},&*#](?:\$\{[^}]*\}|[^\s"',}])*)/,
  /\buses:[ \t]+["']?docker:\/\/(?<image>[^\s"']+)/,
]
const inValues = [/^\s*repository:[ \t]+["']?(?<image>[^\s"'{$]+)/]

/** In the order of the text; stages of a Dockerfile and `scratch` are none. */
export function referencesIn(file: string, text: string): readonly Reference[] {
  const isYaml = /\.ya?ml$/.test(file)
  const forms = isYaml ? [...inYaml, ...(/(^|\/)values\.ya?ml$/.test(file) ? inValues : [])] : inDockerfile
  const stages = new Set(['scratch'])
  return text.split('\n').flatMap((line, index) => {
    if (line.trimStart().startsWith('#')) return []
    const found = forms.flatMap((form) => form.exec(line)?.groups?.image ?? [])
    const references = found
      .filter((name) => isYaml || !(stages.has(name.toLowerCase()) || /^\d+$/.test(name)))
      .map((name) => {
        const [image = '', digest] = name.split('@')
        return { file, line: index + 1, text: name, image, digest }
      })
    const stage = /^\s*FROM\s.*\sAS\s+(\S+)/i.exec(line)?.[1]
    if (!isYaml && stage !== undefined) stages.add(stage.toLowerCase())
    return references
  })
}

/** What this project builds itself, so that nobody can pin it here. */
export const isOwn = ({ image }: Reference): boolean => /^covenant(:|$)/.test(image)

/** The text with the digest of each image of `digests` behind its name, in place of an older one. */
export function withDigests(file: string, text: string, digests: ReadonlyMap<string, string>): string {
  const lines = text.split('\n')
  for (const { line, text: old, image } of referencesIn(file, text)) {
    const digest = digests.get(image)
    if (digest !== undefined)
      lines[line - 1] = (lines[line - 1] ?? '').replace(old, () => `${image}@${digest}`)
  }
  return lines.join('\n')
}
