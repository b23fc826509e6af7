// tokenizer.ts - byte-level BPE with the tables of tokenizer.json, as in examples/text2image/tokenizer.c:
//
//     prompt -> added tokens cut out -> lower case -> a space in front -> words -> bytes -> merges

interface TokenizerFile {
  added_tokens: { id: number; content: string }[];
  padding: { pad_id: number };
  truncation: { max_length: number };
  post_processor: {
    single: { SpecialToken?: { id: string } }[];
    special_tokens: Record<string, { ids: number[] }>;
  };
  model: { vocab: Record<string, number>; merges: [string, string][] };
}

// Unicode's White_Space; JavaScript's \s has other members.
const SPACE = '\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const WORD = new RegExp(
  `'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^${SPACE}\\p{L}\\p{N}]+|[${SPACE}]+(?![^${SPACE}])|[${SPACE}]+`, 'gu');

/** Bytes are spelled as printable characters: themselves where visible, U+0100 and on for the others. */
function byteSpelling(): string[] {
  let hidden = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    const isVisible = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    return String.fromCodePoint(isVisible ? byte : 0x100 + hidden++);
  });
}

export class Tokenizer {
  readonly length: number;
  private readonly byteId: number[];
  private readonly merges = new Map<string, { rank: number; made: number }>();
  private readonly begin: number;
  private readonly end: number;

  constructor(private readonly file: TokenizerFile) {
    const { vocab, merges } = file.model;
    this.length = file.truncation.max_length;
    this.byteId = byteSpelling().map((text) => vocab[text]);
    merges.forEach(([left, right], rank) =>
      this.merges.set(`${vocab[left]} ${vocab[right]}`, { rank, made: vocab[left + right] }));
    const special = (i: number): number => {
      const name = file.post_processor.single[i].SpecialToken;
      if (!name) throw new Error('tokenizer.json: the template is not one token, the text, one token');
      return file.post_processor.special_tokens[name.id].ids[0];
    };
    this.begin = special(0);
    this.end = special(2);
  }

  /** Begin, the tokens that fit, end, padding. */
  encode(prompt: string): bigint[] {
    const ids = this.split(prompt).slice(0, this.length - 2);
    const all = [this.begin, ...ids, this.end];
    while (all.length < this.length) all.push(this.file.padding.pad_id);
    return all.map(BigInt);
  }

  private split(prompt: string): number[] {
    const ids: number[] = [];
    for (;;) {
      let first = prompt.length;
      let found: { id: number; content: string } | null = null;
      for (const added of this.file.added_tokens) {
        const at = prompt.indexOf(added.content);
        if (at < 0 || at > first || (at === first && found && added.content.length < found.content.length)) continue;
        first = at;
        found = added;
      }
      ids.push(...this.words(prompt.slice(0, first)));
      if (!found) return ids;
      ids.push(found.id);
      prompt = prompt.slice(first + found.content.length);
    }
  }

  private words(text: string): number[] {
    if (text === '') return [];
    // Letter by letter: what stands beside a letter must not change its lower case.
    const lower = Array.from(text, (c) => c.toLowerCase()).join('');
    const spaced = lower.startsWith(' ') ? lower : ` ${lower}`;
    return (spaced.match(WORD) ?? []).flatMap((word) => this.merge(word));
  }

  /** Joins the leftmost pair of lowest rank until no pair is known. */
  private merge(word: string): number[] {
    const parts = Array.from(new TextEncoder().encode(word), (byte) => this.byteId[byte]);
    for (;;) {
      let best = -1;
      let merge = { rank: Infinity, made: 0 };
      for (let i = 0; i + 1 < parts.length; i++) {
        const pair = this.merges.get(`${parts[i]} ${parts[i + 1]}`);
        if (!pair || pair.rank >= merge.rank) continue;
        best = i;
        merge = pair;
      }
      if (best < 0) return parts;
      parts.splice(best, 2, merge.made);
    }
  }
}
