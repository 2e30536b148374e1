/** A node of the search tree: the next node or the offset of its data, for the bits 0 and 1. */
type Branch = TreeNode | { readonly offset: number }
interface TreeNode {
  readonly branches: [Branch | null, Branch | null]
}

/**
 * Renders a database in the format of MaxMind, version 2.0, with the country of each IPv4 network: `203.0.113.0/24`.
 * Networks must not overlap.
 */
export function renderCountryDatabase(
  countries: Readonly<Record<string, string>>,
  databaseType = 'GeoLite2-Country'
): Buffer {
  const root: TreeNode = { branches: [null, null] }
  const data: Buffer[] = []
  for (const [network, code] of Object.entries(countries)) {
    const offset = data.reduce((sum, { length }) => sum + length, 0)
    data.push(encode({ country: { iso_code: code } }))
    insert(root, bitsOf(network), offset)
  }
  const nodes = [root]
  // Appended to while it is read.
  for (const node of nodes)
    for (const branch of node.branches) if (branch && 'branches' in branch) nodes.push(branch)
  const index = new Map(nodes.map((node, place) => [node, place]))
  const tree = Buffer.alloc(nodes.length * 6)
  nodes.forEach(({ branches }, place) => {
    branches.forEach((branch, side) => {
      const record =
        branch === null
          ? nodes.length
          : 'branches' in branch
            ? (index.get(branch) ?? 0)
            : nodes.length + 16 + branch.offset
      tree.writeUIntBE(record, place * 6 + side * 3, 3)
    })
  })
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: databaseType,
    description: { en: 'Test' },
    ip_version: 6,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 24
  })
  const marker = Buffer.from('\u00ab\u00cd\u00efMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, metadata])
}

/** The bits of an IPv4 network, which is in the first 32 bits that are free of IPv6. */
function bitsOf(network: string): string {
  const [address = '', length = '32'] = network.split('/')
  const bits = address.split('.').map(part => Number(part).toString(2).padStart(8, '0'))
  return '0'.repeat(96) + bits.join('').slice(0, Number(length))
}

function insert(root: TreeNode, bits: string, offset: number): void {
  let node = root
  for (const bit of bits.slice(0, -1)) {
    const side = bit === '1' ? 1 : 0
    const branch = node.branches[side]
    const next: TreeNode = branch && 'branches' in branch ? branch : { branches: [null, null] }
    node.branches[side] = next
    node = next
  }
  node.branches[bits.endsWith('1') ? 1 : 0] = { offset }
}

type Value = string | number | readonly Value[] | { readonly [name: string]: Value }

/** Encodes texts of less than 29 bytes, numbers of 32 bits, and short maps and arrays of them. */
function encode(value: Value): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([Buffer.from([(2 << 5) | value.length]), Buffer.from(value)])
  if (typeof value === 'number') {
    const bytes = Buffer.from([(6 << 5) | 4, 0, 0, 0, 0])
    bytes.writeUInt32BE(value, 1)
    return bytes
  }
  if (isList(value)) return Buffer.concat([Buffer.from([value.length, 11 - 7]), ...value.map(encode)])
  const entries = Object.entries(value)
  return Buffer.concat([
    Buffer.from([(7 << 5) | entries.length]),
    ...entries.flatMap(([name, each]) => [encode(name), encode(each)])
  ])
}

const isList = (value: Value): value is readonly Value[] => Array.isArray(value)
