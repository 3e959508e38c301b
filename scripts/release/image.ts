/** The words by which Docker builds the image, on this machine or for a registry. It runs nothing. */

/** The architectures for which a release has an image, as Docker and as Node name them. */
export const architectures = [
  { docker: 'amd64', node: 'x64' },
  { docker: 'arm64', node: 'arm64' },
] as const

export interface ImageFacts {
  readonly version: string
  readonly revision: string
  readonly createdAt: Date
  /** The address of the repository. */
  readonly source?: string | undefined
}

function buildArguments({ version, revision, createdAt, source }: ImageFacts): readonly string[] {
  const given = {
    ...{ VERSION: version, REVISION: revision, CREATED: createdAt.toISOString() },
    ...(source !== undefined && { SOURCE: source }),
  }
  return Object.entries(given).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
}

/** Builds the image for this machine, which keeps it. */
export function localBuild(facts: ImageFacts): readonly string[] {
  return ['docker', 'build', ...buildArguments(facts), '--tag', `covenant:${facts.version}`, '.']
}

/**
 * Builds one image for all architectures and pushes it, each with a bill of materials of all its packages and the
 * provenance of its build.
 * @param metadata the file into which Docker writes the digest
 */
export function pushedBuild(facts: ImageFacts, name: string, metadata: string): readonly string[] {
  return [
    ...['docker', 'buildx', 'build'],
    ...['--platform', architectures.map(({ docker }) => `linux/${docker}`).join(',')],
    ...['--attest', 'type=sbom', '--attest', 'type=provenance,mode=max'],
    ...buildArguments(facts),
    ...['--tag', `${name}:${facts.version}`, '--push', '--metadata-file', metadata, '.'],
  ]
}

/** The digest in what Docker wrote about a build. @throws Error where it names none */
export function digestIn(metadata: string): string {
  const { 'containerimage.digest': digest } = JSON.parse(metadata) as Readonly<Record<string, unknown>>
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error('Docker named no digest of what it built.')
  return digest
}
