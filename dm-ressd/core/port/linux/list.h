/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's circular list: its interface, our own code behind it. */
#ifndef PORT_LINUX_LIST_H
#define PORT_LINUX_LIST_H

#include <linux/container_of.h>
#include <linux/types.h>

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline bool list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}

static inline void port_list_join(struct list_head *left,
				  struct list_head *right)
{
	left->next = right;
	right->prev = left;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	port_list_join(entry, head->next);
	port_list_join(head, entry);
}

static inline void list_add_tail(struct list_head *entry,
				 struct list_head *head)
{
	port_list_join(head->prev, entry);
	port_list_join(entry, head);
}

/* The poison makes a second list_del of one entry crash at once. */
static inline void list_del(struct list_head *entry)
{
	port_list_join(entry->prev, entry->next);
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_del_init(struct list_head *entry)
{
	port_list_join(entry->prev, entry->next);
	INIT_LIST_HEAD(entry);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry,
				  struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

/* Moves all entries of @list to the front, or to the end, of @head. */
static inline void list_splice_init(struct list_head *list,
				    struct list_head *head)
{
	if (list_empty(list))
		return;
	port_list_join(list->prev, head->next);
	port_list_join(head, list->next);
	INIT_LIST_HEAD(list);
}

static inline void list_splice_tail_init(struct list_head *list,
					 struct list_head *head)
{
	if (list_empty(list))
		return;
	port_list_join(head->prev, list->next);
	port_list_join(list->prev, head);
	INIT_LIST_HEAD(list);
}

#define list_entry(pointer, type, member) \
	container_of(pointer, type, member)
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) \
	list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(pos, member) \
	list_entry((pos)->member.next, __typeof__(*(pos)), member)

#define list_for_each(pos, head) \
	for (pos = (head)->next; pos != (head); pos = pos->next)

#define list_for_each_entry(pos, head, member)				\
	for (pos = list_first_entry(head, __typeof__(*pos), member);	\
	     &pos->member != (head);					\
	     pos = list_next_entry(pos, member))

#define list_for_each_entry_safe(pos, after, head, member)		\
	for (pos = list_first_entry(head, __typeof__(*pos), member),	\
	     after = list_next_entry(pos, member);			\
	     &pos->member != (head);					\
	     pos = after, after = list_next_entry(after, member))

#endif
