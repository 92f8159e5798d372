// Prints golden lines (tests/golden/src/lib.rs) of one packet: what its members' bits are.
#pragma once
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

inline uint64_t next_number() { // splitmix64
  static uint64_t state = 1;
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <typename P> class Lines {
  using Words = std::vector<uint32_t>;
  using Names = std::vector<std::pair<const char *, uint32_t>>;

  std::string packet;
  std::vector<std::pair<std::string, Words>> members;
  uint32_t fixed = 0;

  static Words words(const P &p) {
    Words got((sizeof(P) + 3) / 4);
    memcpy(got.data(), &p, sizeof(P));
    return got;
  }

  void print(const Words &words) {
    printf(" :");
    for (uint32_t word : words)
      printf(" %x", word);
    printf("\n");
  }

public:
  explicit Lines(const char *packet) : packet(packet) {}

  // What a packet has in dword 0 that makes it this one, and a packet in which these bits are all set.
  void head(const P &value, const P &mask) {
    fixed = words(value)[0];
    printf("head %s aql : %x %x\n", packet.c_str(), words(mask)[0], fixed);
  }

  // A packet in which nothing but a member is set, all of it.
  void piece(const std::string &name, const P &p) {
    members.emplace_back(name, words(p));
    printf("piece %s aql %s", packet.c_str(), name.c_str());
    print(words(p));
  }

  // A whole member of a structure; one of 8 bytes is two pieces.
  void member(const std::string &name, size_t offset, size_t size) {
    auto ones = [&](const std::string &name, size_t offset, size_t size) {
      P p = {};
      memset((char *)&p + offset, 0xff, size);
      piece(name, p);
    };
    if (size == 8) {
      ones(name + "_lo", offset, 4);
      ones(name + "_hi", offset + 4, 4);
      printf("join %s aql %s_lo@0 %s_hi@32\n", packet.c_str(), name.c_str(), name.c_str());
    } else {
      ones(name, offset, size);
    }
  }

  void names(const char *piece, const Names &names) {
    printf("names %s aql %s", packet.c_str(), piece);
    for (auto &[name, value] : names)
      printf(" %s=%x", name, value);
    printf("\n");
  }

  // Packets with something in every member.
  void wholes() {
    for (int i = 0; i < 8; i++) {
      Words all((sizeof(P) + 3) / 4);
      all[0] = fixed;
      printf("whole %s aql", packet.c_str());
      for (auto &[name, mask] : members)
        for (size_t dword = 0; dword < mask.size(); dword++)
          if (mask[dword]) {
            int low = __builtin_ctz(mask[dword]);
            uint32_t value = (uint32_t)next_number() & mask[dword] >> low;
            printf(" %s=%x", name.c_str(), value);
            all[dword] |= value << low;
          }
      print(all);
    }
  }
};

// A member by its own name, or by another.
#define MEMBER(lines, P, name) (lines).member(#name, offsetof(P, name), sizeof(P::name))
#define MEMBER_AS(lines, P, name, as) (lines).member(as, offsetof(P, name), sizeof(((P *)0)->name))

// Bits of a half-word or word, from AMD's enumerators of position and width.
#define BITS(lines, P, lvalue, name, position, width)                                              \
  do {                                                                                             \
    P p = {};                                                                                      \
    p.lvalue = (decltype(p.lvalue))(((1u << (width)) - 1) << (position));                          \
    (lines).piece(name, p);                                                                        \
  } while (0)
