import { decodeLatin1, id3v22FrameIds } from './id3v2-names.ts'

/** A frame, with the name it has in ID3v2.4. */
export interface Id3Frame {
  readonly id: string
  /** Without unsynchronisation and what its flags add. */
  readonly content: Uint8Array
  readonly isCompressed: boolean
}

const headerBytes = 10
const maxFrames = 10_000

/** The length of the tag that starts here, with header and footer; 0 if none does. */
export function parseId3v2Length(start: Uint8Array): number {
  const [i, d, three, major = 0, revision = 0, flags = 0, ...size] = start.subarray(0, headerBytes)
  const isTag = i === 0x49 && d === 0x44 && three === 0x33 && major < 0xff && revision < 0xff
  if (!isTag || size.length < 4 || size.some(byte => byte > 0x7f)) return 0
  return headerBytes + readSynchsafe(start, 6) + (flags & 0x10 ? headerBytes : 0)
}

/** Reads the frames of a tag, which ends at its padding or the first malformed frame. */
export function parseId3v2Frames(tag: Uint8Array): Id3Frame[] {
  const [, , , major = 0, , flags = 0] = tag
  // The flag 0x40 of 2.2 says that the tag is compressed, in a way that was never defined.
  if (major < 2 || major > 4 || (major === 2 && flags & 0x40)) return []
  const isUnsynchronised = (flags & 0x80) !== 0
  const end = flags & 0x10 ? tag.length - headerBytes : tag.length
  const raw = tag.subarray(headerBytes, end)
  // In 2.4 each frame is unsynchronised by itself, and sizes count the bytes that were added.
  const body = isUnsynchronised && major < 4 ? withoutUnsynchronisation(raw) : raw
  const start = flags & 0x40 ? extendedHeaderLength(body, major) : 0
  return major === 2 ? readShortFrames(body) : readLongFrames(body.subarray(start), major, isUnsynchronised)
}

function extendedHeaderLength(body: Uint8Array, major: number): number {
  if (major === 4) return readSynchsafe(body, 0)
  return readSize(body, 0) + 4
}

function readShortFrames(body: Uint8Array): Id3Frame[] {
  const frames: Id3Frame[] = []
  let at = 0
  while (at + 6 <= body.length && frames.length < maxFrames) {
    const id = decodeLatin1(body.subarray(at, at + 3))
    const size = readSize(body, at + 2) & 0xff_ffff
    if (!/^[A-Z][A-Z\d]{2}$/.test(id)) break
    const content = body.subarray(at + 6, at + 6 + size)
    frames.push({ id: id3v22FrameIds[id] ?? id, content, isCompressed: false })
    at += 6 + size
  }
  return frames
}

function readLongFrames(body: Uint8Array, major: number, isUnsynchronised: boolean): Id3Frame[] {
  const frames: Id3Frame[] = []
  let at = 0
  while (at + headerBytes <= body.length && frames.length < maxFrames) {
    const id = frameIdAt(body, at)
    if (id === null) break
    const size = major === 4 ? frameSize(body, at) : readSize(body, at + 4)
    const content = body.subarray(at + headerBytes, at + headerBytes + size)
    const frame =
      major === 4 ? openFrame4(body, at, content, isUnsynchronised) : openFrame3(body, at, content)
    if (frame) frames.push({ id, ...frame })
    at += headerBytes + size
  }
  return frames
}

/** Some programs write frames of 2.2 into later tags, and end their names with a space or NUL. */
function frameIdAt(body: Uint8Array, at: number): string | null {
  const id = decodeLatin1(body.subarray(at, at + 4))
  if (/^[A-Z][A-Z\d]{3}$/.test(id)) return id
  return /^[A-Z][A-Z\d]{2}[ \0]$/.test(id) ? (id3v22FrameIds[id.slice(0, 3)] ?? id.slice(0, 3)) : null
}

/** iTunes and others write sizes of 2.4 as those of 2.3. The size after which a frame or the end follows is right. */
function frameSize(body: Uint8Array, at: number): number {
  const plain = readSize(body, at + 4)
  if (plain < 0x80) return plain
  if (body.subarray(at + 4, at + 8).some(byte => byte > 0x7f)) return plain
  const safe = readSynchsafe(body, at + 4)
  const isFollowed = (size: number) => {
    const next = at + headerBytes + size
    if (next >= body.length) return next === body.length
    // Text may look like the name of a frame, but not like flags.
    const hasFlags = ((body[next + 8] ?? 0) & 0x8f) === 0 && ((body[next + 9] ?? 0) & 0xb0) === 0
    return body[next] === 0 || (frameIdAt(body, next) !== null && hasFlags)
  }
  return isFollowed(safe) || !isFollowed(plain) ? safe : plain
}

function openFrame3(body: Uint8Array, at: number, content: Uint8Array) {
  const flags = body[at + 9] ?? 0
  if (flags & 0x40) return null
  const isCompressed = (flags & 0x80) !== 0
  return { content: content.subarray((isCompressed ? 4 : 0) + (flags & 0x20 ? 1 : 0)), isCompressed }
}

function openFrame4(body: Uint8Array, at: number, content: Uint8Array, isUnsynchronised: boolean) {
  const flags = body[at + 9] ?? 0
  if (flags & 0x04) return null
  const isOwn = isUnsynchronised || (flags & 0x02) !== 0
  const bare = content.subarray((flags & 0x40 ? 1 : 0) + (flags & 0x01 ? 4 : 0))
  return { content: isOwn ? withoutUnsynchronisation(bare) : bare, isCompressed: (flags & 0x08) !== 0 }
}

/** Removes the NULs that were inserted after each 0xFF. */
function withoutUnsynchronisation(bytes: Uint8Array): Uint8Array {
  const result = new Uint8Array(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === 0 && at > 0 && bytes[at - 1] === 0xff) continue
    result[length] = bytes[at] ?? 0
    length += 1
  }
  return result.subarray(0, length)
}

const readSize = (bytes: Uint8Array, at: number) =>
  (((bytes[at] ?? 0) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)) >>>
  0

const readSynchsafe = (bytes: Uint8Array, at: number) =>
  [0, 1, 2, 3].reduce((size, index) => (size << 7) | ((bytes[at + index] ?? 0) & 0x7f), 0)
