import { BlockList, isIP } from 'node:net'

/** Whether a text is an address, or a network like `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}

/** A list of addresses and networks as `isNetwork` knows them. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/**
 * Whether a text is an address that is in one of the networks. IPv4 written as IPv6 (`::ffff:`) counts as
 * IPv4.
 */
export function isWithin(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Whom an address belongs to as far as limits go: an IPv6 host has 64 bits of addresses to itself. */
export function ownerOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [front = '', back] = address.split('%')[0]?.split('::') ?? []
  const groups = front === '' ? [] : front.split(':')
  const tail = back === undefined || back === '' ? [] : back.split(':')
  // An IPv4 address at the end stands for two groups.
  const written = groups.length + tail.length + (address.includes('.') ? 1 : 0)
  const whole = back === undefined ? groups : [...groups, ...Array<string>(8 - written).fill('0'), ...tail]
  return `${whole
    .slice(0, 4)
    .map(group => group.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':')}::/64`
}

/**
 * A URL in its parts, relative to a base if one is given; null where the text is none. `URL.canParse` of Node
 * 20 cannot be asked: after four thousand calls it says no to addresses with letters like `ö`.
 */
export function parsedUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}

/**
 * Whether the host of an address is one of the names and numbers that hosts have. The URL standard also takes
 * `a;b` and `a'b`, which mean something else in a header.
 */
export const hasPlainHost = ({ hostname }: URL): boolean =>
  /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(hostname)
