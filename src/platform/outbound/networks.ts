import { BlockList, isIP } from 'node:net'

/** Whether a text is an address, or a network like `10.0.0.0/8`. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}

/** Builds a list of valid addresses and networks. */
export function toNetworkList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** Whether a text is an address in one of the networks. An IPv4-mapped IPv6 address counts as IPv4. */
export function isInNetworks(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** The key of an address for limits per client: an IPv4 address, or the /64 network of an IPv6 address. */
export function addressLimitKeyOf(address: string): string {
  return isIP(address) === 6 ? ipv6Network(address, 64) : address
}

/**
 * The networks of an address that may belong to one person, from coarse to fine: the /24 network of an IPv4 address and
 * the address, or the /48 and /64 networks of an IPv6 address. Other text is returned alone.
 */
export function addressLimitGroupsOf(address: string): string[] {
  const family = isIP(address)
  if (family === 6) return [ipv6Network(address, 48), ipv6Network(address, 64)]
  return family === 4 ? [address.replace(/\d+$/, '0/24'), address] : [address]
}

function ipv6Network(address: string, bits: 48 | 64): string {
  const [front = '', back] = address.split('%')[0]?.split('::') ?? []
  const groups = front === '' ? [] : front.split(':')
  const tail = back === undefined || back === '' ? [] : back.split(':')
  // An IPv4 address at the end stands for two groups.
  const written = groups.length + tail.length + (address.includes('.') ? 1 : 0)
  const all = back === undefined ? groups : [...groups, ...Array<string>(8 - written).fill('0'), ...tail]
  return `${all
    .slice(0, bits / 16)
    .map(group => group.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':')}::/${bits}`
}

/**
 * Parses a URL, relative to a base if given; null if it is invalid. Not `URL.canParse`, because that of Node
 * 20 returns false for non-ASCII URLs after some thousand calls.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}

/** The host of a URL without the brackets of an IPv6 address. */
export const stripIpv6Brackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

/** Whether the path of a song is a URL. */
export const isWebUrl = (path: string): boolean => /^https?:\/\//i.test(path)

/** Whether the host is safe in headers. The URL standard also allows `a;b` and `a'b`. */
export const hasHeaderSafeHost = ({ hostname }: URL): boolean =>
  /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(hostname)
