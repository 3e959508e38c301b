/**
 * The digest that a registry of images gives for a name and tag now, by the distribution API of the Open Container
 * Initiative. It signs in as nobody: only public images are asked for.
 */

/** Says to the user why there is no digest. */
export class NoDigest extends Error {}

const patienceMs = 20_000
/** Indexes first: their digest holds for every CPU. */
const accepted = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')

/** @param registry the address of the registry for names without a host @throws NoDigest */
export async function digestOf(image: string, registry: string | undefined): Promise<string> {
  const url = manifestUrl(image, registry)
  const headers: Record<string, string> = { accept: accepted }
  let answer = await ask(image, url, { method: 'HEAD', headers })
  if (answer.status === 401) {
    headers.authorization = `Bearer ${await tokenFor(image, url, answer.headers.get('www-authenticate') ?? '')}`
    answer = await ask(image, url, { method: 'HEAD', headers })
  }
  assertFound(image, answer)
  const named = answer.headers.get('docker-content-digest') ?? (await hashed(image, url, headers))
  if (!/^sha256:[0-9a-f]{64}$/.test(named))
    throw new NoDigest(`${image}: the registry names no digest of SHA-256.`)
  return named
}

function manifestUrl(image: string, registry: string | undefined): URL {
  const [, path = '', tag] = /^(.+?)(?::([\w][\w.-]{0,127}))?$/.exec(image) ?? []
  if (tag === undefined) throw new NoDigest(`${image} names no tag.`)
  const [first = '', ...rest] = path.split('/')
  const hasHost = rest.length > 0 && /[.:]|^localhost$/.test(first)
  if (!/^[a-z0-9]+([._/-]+[a-z0-9]+)*$/.test(hasHost ? rest.join('/') : path))
    throw new NoDigest(`${image} is no name of an image.`)
  if (hasHost) return new URL(`https://${first}/v2/${rest.join('/')}/manifests/${tag}`)
  if (registry === undefined)
    throw new NoDigest(`${image} names no registry, and no Docker here names one: give --registry URL.`)
  return new URL(`/v2/${rest.length === 0 ? `library/${path}` : path}/manifests/${tag}`, registry)
}

async function ask(image: string, url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new NoDigest(`${image}: ${url.host} cannot be reached: ${reason}`)
  }
}

function assertFound(image: string, { status, ok }: Response): void {
  if (status === 404) throw new NoDigest(`${image}: the registry has no such image.`)
  if (!ok) throw new NoDigest(`${image}: the registry answers ${status}.`)
}

/** The token of nobody, from where the registry says. */
async function tokenFor(image: string, registry: URL, challenge: string): Promise<string> {
  const given = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))
  const realm = given.get('realm')
  if (!/^Bearer\s/i.test(challenge) || realm === undefined || !URL.canParse(realm))
    throw new NoDigest(`${image}: the registry asks for something else than a token.`)
  const url = new URL(realm)
  if (url.protocol !== 'https:' && url.protocol !== registry.protocol)
    throw new NoDigest(`${image}: the registry sends for a token to ${url.origin}, which is not https.`)
  for (const name of ['service', 'scope']) {
    const value = given.get(name)
    if (value !== undefined) url.searchParams.set(name, value)
  }
  const answer = await ask(image, url, {})
  assertFound(image, answer)
  const body = (await answer.json().catch(() => ({}))) as { token?: unknown; access_token?: unknown }
  const token = body.token ?? body.access_token
  if (typeof token !== 'string') throw new NoDigest(`${image}: ${url.host} gives no token.`)
  return token
}

/** The digest of a manifest whose registry does not name it is the hash of its bytes. */
async function hashed(image: string, url: URL, headers: Record<string, string>): Promise<string> {
  const answer = await ask(image, url, { headers })
  assertFound(image, answer)
  return `sha256:${new Bun.CryptoHasher('sha256').update(await answer.arrayBuffer()).digest('hex')}`
}
