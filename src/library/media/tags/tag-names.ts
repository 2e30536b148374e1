/** Names of tags in formats that abbreviate them: ID3v2, RIFF INFO, AIFF, MP4 and WMA. Each alternative is one id. */
const abbreviated: Readonly<Record<string, string>> = {
  album: 'TALB IPRD IRPD \u00A9alb WM/AlbumTitle album:TITLE',
  album_artist: 'aART WM/AlbumArtist',
  album_artist_sort_order: 'TSO2 soaa WM/AlbumArtistSortOrder',
  album_sort_order: 'TSOA soal WM/AlbumSortOrder',
  artist: 'TPE1 IART AIFF:AUTH \u00A9ART Author track:ARTIST',
  band: 'TPE2',
  bpm: 'TBPM IBPM tmpo WM/BeatsPerMinute',
  comment: 'COMM COMM:comment ICMT AIFF:ANNO \u00A9cmt Description',
  commercial_information: 'WCOM',
  composer: 'TCOM IMUS \u00A9wrt WM/Composer',
  composer_sort_order: 'TSOC soco WM/ComposerSortOrder',
  conductor: 'TPE3 WM/Conductor',
  content_group_description: 'TIT1 GRP1 \u00A9grp WM/ContentGroupDescription',
  copyright: 'WCOP cprt \u00A9cpy ICOP AIFF:(c)',
  copyright_message: 'TCOP',
  encoded_by: 'TENC ISFT \u00A9too \u00A9enc WM/EncodedBy',
  encoder_settings: 'TSSE WM/EncodingSettings',
  encoding_time: 'TDEN',
  file_owner: 'TOWN',
  file_type: 'TFLT',
  genre: 'TCON IGNR GNRE \u00A9gen gnre WM/Genre track:GENRE',
  initial_key: 'TKEY WM/InitialKey',
  internet_radio_station_name: 'TRSN WM/RadioStationName',
  internet_radio_station_owner: 'TRSO WM/RadioStationOwner',
  involved_people_list: 'TIPL IPLS',
  isrc: 'TSRC WM/ISRC',
  language: 'TLAN ILNG WM/Language',
  length: 'TLEN',
  lyricist: 'TEXT IWRI WM/Writer',
  media_type: 'TMED IMED WM/Media',
  mood: 'TMOO WM/Mood',
  musician_credits_list: 'TMCL',
  original_album: 'TOAL WM/OriginalAlbumTitle',
  original_artist: 'TOPE WM/OriginalArtist',
  original_filename: 'TOFN WM/OriginalFilename',
  original_lyricist: 'TOLY WM/OriginalLyricist',
  original_release_time: 'TDOR WM/OriginalReleaseTime',
  original_year: 'TORY WM/OriginalReleaseYear',
  part_of_a_compilation: 'TCMP cpil WM/IsCompilation',
  part_of_a_set: 'TPOS disk WM/PartOfSet',
  performer_sort_order: 'TSOP soar WM/ArtistSortOrder',
  playlist_delay: 'TDLY',
  produced_notice: 'TPRO',
  publisher: 'TPUB \u00A9pub WM/Publisher',
  recording_time: 'TDRC',
  release_time: 'TDRL',
  remixer: 'TPE4 WM/ModifiedBy',
  set_subtitle: 'TSST WM/SetSubTitle',
  subtitle: 'TIT3 \u00A9st3 WM/SubTitle',
  tagging_time: 'TDTG',
  terms_of_use: 'USER',
  title: 'TIT2 INAM TITL AIFF:NAME \u00A9nam segment:title track:TITLE',
  title_sort_order: 'TSOT sonm WM/TitleSortOrder',
  track_number: 'TRCK ITRK IPRT trkn WM/TrackNumber',
  unsynchronised_lyric: 'USLT SYLT \u00A9lyr WM/Lyrics',
  url_artist: 'WOAR TURL WM/AuthorURL',
  url_file: 'WOAF WM/AudioFileURL',
  url_payment: 'WPAY',
  url_publisher: 'WPUB',
  url_source: 'WOAS WM/AudioSourceURL',
  url_station: 'WORS',
  url_user: 'WXXX',
  year: 'TYER ICRD YEAR \u00A9day WM/Year'
}

/** Names of tags in formats that spell them out, in lower case without spaces, hyphens and underscores. */
const spelled: Readonly<Record<string, string>> = {
  albumartist: 'album_artist',
  albumartistsort: 'album_artist_sort_order',
  albumsort: 'album_sort_order',
  artistsort: 'performer_sort_order',
  compilation: 'part_of_a_compilation',
  composersort: 'composer_sort_order',
  contentgroup: 'content_group_description',
  date: 'year',
  description: 'comment',
  disc: 'part_of_a_set',
  discnumber: 'part_of_a_set',
  discogsartists: 'artists',
  discsubtitle: 'set_subtitle',
  encodedby: 'encoded_by',
  encoder: 'encoded_by',
  encodersettings: 'encoder_settings',
  encoding: 'encoder_settings',
  grouping: 'content_group_description',
  initialkey: 'initial_key',
  key: 'initial_key',
  label: 'publisher',
  lyrics: 'unsynchronised_lyric',
  media: 'media_type',
  mixartist: 'remixer',
  organization: 'publisher',
  originalartist: 'original_artist',
  originaldate: 'original_release_time',
  originalyear: 'original_year',
  releasedate: 'release_time',
  tempo: 'bpm',
  titlesort: 'title_sort_order',
  track: 'track_number',
  tracknumber: 'track_number',
  unsyncedlyrics: 'unsynchronised_lyric',
  unsynchronizedlyrics: 'unsynchronised_lyric',
  weblink: 'url_artist',
  website: 'url_artist'
}

/** A tag that is missing has the value of this one: formats have one of two. */
export const tagSynonyms: readonly (readonly [string, string])[] = [
  ['album_artist', 'band'],
  ['band', 'album_artist'],
  ['copyright', 'copyright_message'],
  ['copyright_message', 'copyright'],
  ['year', 'recording_time'],
  ['recording_time', 'year'],
  ['encoded_by', 'encoder_settings']
]

const maxNameLength = 100

const byId = new Map(
  Object.entries(abbreviated).flatMap(([name, ids]) => ids.split(' ').map(id => [id, name] as const))
)

/** Other names of tags that are known in all formats, in lower case: those in formats and usual spellings. */
export const tagAliases: ReadonlyMap<string, string> = new Map(
  [...byId, ...Object.entries(spelled)].map(([alias, name]) => [alias.toLowerCase(), name])
)

const bySpelling = new Map([
  ...Object.entries(spelled),
  ...Object.keys(abbreviated).map(name => [bareName(name), name] as const)
])

/**
 * The name of a tag in all formats, in lower case: `album_artist` for `TPE2`, `aART` and `ALBUMARTIST`. Tags that are
 * not known in all formats keep their own name.
 */
export function canonicalTagName(id: string): string {
  const known = byId.get(id)
  if (known !== undefined) return known
  const own = (isFreeTag(id) ? id.slice(id.lastIndexOf(':') + 1) : id).toLowerCase().slice(0, maxNameLength)
  return bySpelling.get(bareName(own)) ?? own
}

/** Whether a tag of any name, which a person chose, is stored in this format below a fixed one. */
export const isFreeTag = (id: string): boolean =>
  /^(TXXX|WXXX|COMM|----|album|track|segment|edition):/.test(id)

function bareName(name: string): string {
  return name.toLowerCase().replace(/[ _-]/g, '')
}
